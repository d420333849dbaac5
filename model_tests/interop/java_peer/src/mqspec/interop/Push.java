package mqspec.interop;

import java.lang.reflect.Method;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyContext;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;

/** A member of a group reports each call of its listener until it is told to stop. */
final class Push implements Peer.Scenario {
    private static final long LISTENER_LIMIT_MS = 10_000;

    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        DefaultMQPushConsumer consumer = create(options, report);
        long pauseMs = options.number("pause-ms", 0);
        if (options.flag("orderly")) {
            consumer.registerMessageListener(listenInOrder(report, pauseMs));
        } else {
            consumer.registerMessageListener(listen(options, report, pauseMs));
        }
        consumer.start();
        report.started(consumer);
        orders.awaitStop();
        consumer.shutdown();
    }

    static DefaultMQPushConsumer create(Options options, Report report) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(
            options.text("group"), Settings.hook(options), new ReportedAllocation(report));
        Settings.apply(consumer, options);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setMaxReconsumeTimes(options.count("max-reconsume-times", -1));
        // Otherwise a shutdown would persist offsets without what a listener has just returned.
        consumer.setAwaitTerminationMillisWhenShutdown(LISTENER_LIMIT_MS);
        if (options.flag("broadcasting")) {
            broadcast(consumer);
        }
        consumer.subscribe(options.text("topic"), options.text("expression", "*"));
        return consumer;
    }

    /** The class of the message model has another package in 5.x, so one source can only name its members. */
    private static void broadcast(DefaultMQPushConsumer consumer) throws ReflectiveOperationException {
        Class<?> model = DefaultMQPushConsumer.class.getMethod("getMessageModel").getReturnType();
        Method set = DefaultMQPushConsumer.class.getMethod("setMessageModel", model);
        set.invoke(consumer, model.getField("BROADCASTING").get(null));
    }

    /** Messages whose body begins with a word fail until they were consumed again often enough. */
    private static MessageListenerConcurrently listen(Options options, Report report, long pauseMs) {
        String failing = options.text("failing-body", null);
        int failures = options.count("failures", Integer.MAX_VALUE);
        return (List<MessageExt> messages, ConsumeConcurrentlyContext context) -> {
            context.setDelayLevelWhenNextConsume(1);
            MessageExt message = messages.get(0); // a call has one message unless the consumer is set otherwise
            boolean isFailing = failing != null && Texts.decode(message.getBody()).startsWith(failing)
                && message.getReconsumeTimes() < failures;
            pause(pauseMs);
            report.received(message, isFailing ? "later" : "success");
            return isFailing ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        };
    }

    private static MessageListenerOrderly listenInOrder(Report report, long pauseMs) {
        return (messages, context) -> {
            pause(pauseMs);
            report.received(messages.get(0), "success");
            return ConsumeOrderlyStatus.SUCCESS;
        };
    }

    private static void pause(long pauseMs) {
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
