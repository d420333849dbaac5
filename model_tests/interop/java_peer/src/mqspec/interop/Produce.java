package mqspec.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientIDSetter;

/** Messages are sent in one of the client's ways; each acknowledgement is reported. */
final class Produce implements Peer.Scenario {
    private static final long CALLBACK_LIMIT_SECONDS = 30;
    private static final MessageQueueSelector IN_TURN = (queues, message, number) ->
        queues.get((Integer) number % queues.size());

    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(options.text("group"), Settings.hook(options));
        Settings.apply(producer, options);
        producer.start();
        report.started(producer);
        String way = options.text("way");
        if (way.equals("stream")) {
            sendUntilStopped(producer, options, report, orders);
        } else {
            send(way, producer, Messages.all(options), report);
        }
        producer.shutdown();
    }

    private static void send(String way, DefaultMQProducer producer, List<Message> messages, Report report)
        throws Exception {
        switch (way) {
            case "sync":
                for (Message message : messages) {
                    reportSent(report, Texts.decode(message.getBody()), producer.send(message));
                }
                break;
            case "async":
                sendAsync(producer, messages, report);
                break;
            case "one-way":
                for (Message message : messages) {
                    producer.sendOneway(message);
                    report.event("sent").with("body", Texts.decode(message.getBody())).with("status", "UNKNOWN")
                        .with("messageId", MessageClientIDSetter.getUniqID(message)).print();
                }
                break;
            case "batch":
                reportSent(report, "", producer.send(messages));
                break;
            default:
                throw new IllegalArgumentException("no way to send: " + way);
        }
    }

    private static void sendAsync(DefaultMQProducer producer, List<Message> messages, Report report)
        throws Exception {
        CountDownLatch open = new CountDownLatch(messages.size());
        List<Throwable> failures = new ArrayList<>();
        for (Message message : messages) {
            producer.send(message, new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    reportSent(report, Texts.decode(message.getBody()), result);
                    open.countDown();
                }

                @Override
                public void onException(Throwable failure) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                    open.countDown();
                }
            });
        }
        if (!open.await(CALLBACK_LIMIT_SECONDS, TimeUnit.SECONDS) || !failures.isEmpty()) {
            throw new IllegalStateException(open.getCount() + " without a callback, failed: " + failures);
        }
    }

    /** Each queue gets a message in its turn, in a steady stream. */
    private static void sendUntilStopped(
        DefaultMQProducer producer, Options options, Report report, Orders orders) throws Exception {
        for (int number = 0; !orders.isWaiting(); number++) {
            Message message = Messages.one(options, number);
            reportSent(report, Texts.decode(message.getBody()), producer.send(message, IN_TURN, number));
            Thread.sleep(options.number("pause-ms", 20));
        }
    }

    static void reportSent(Report report, String body, SendResult result) {
        report.event("sent")
            .with("body", body)
            .with("status", result.getSendStatus())
            .with("messageId", result.getMsgId())
            .with("offsetMessageId", result.getOffsetMsgId())
            .with("queueId", result.getMessageQueue().getQueueId())
            .with("queueOffset", result.getQueueOffset())
            .print();
    }
}
