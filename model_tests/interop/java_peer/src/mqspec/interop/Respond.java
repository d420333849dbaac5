package mqspec.interop;

import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/** Each request is answered with its body and a word, until the responder is told to stop. */
final class Respond implements Peer.Scenario {
    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(options.text("reply-group"), Settings.hook(options));
        Settings.apply(producer, options);
        producer.start();
        DefaultMQPushConsumer consumer = Push.create(options, report);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
            answer(messages, producer, report));
        consumer.start();
        report.started(consumer);
        orders.awaitStop();
        consumer.shutdown();
        producer.shutdown();
    }

    private static ConsumeConcurrentlyStatus answer(
        List<MessageExt> messages, DefaultMQProducer producer, Report report) {
        MessageExt request = messages.get(0);
        report.received(request, "request");
        String body = Texts.decode(request.getBody()) + " is answered";
        try {
            Message reply = MessageUtil.createReplyMessage(request, Texts.encode(body));
            Produce.reportSent(report, body, producer.send(reply));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        } catch (Exception failure) {
            report.event("unanswered").with("error", failure.toString()).print();
            return ConsumeConcurrentlyStatus.RECONSUME_LATER;
        }
    }
}
