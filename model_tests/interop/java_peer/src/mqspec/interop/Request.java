package mqspec.interop;

import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

/** Each message is sent as a request, and the reply to it is reported. */
final class Request implements Peer.Scenario {
    private static final long REPLY_LIMIT_MS = 20_000;

    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(options.text("group"), Settings.hook(options));
        Settings.apply(producer, options);
        producer.start();
        report.started(producer);
        for (Message message : Messages.all(options)) {
            Message reply = producer.request(message, REPLY_LIMIT_MS);
            report.event("answered")
                .with("body", Texts.decode(message.getBody()))
                .with("reply", Texts.decode(reply.getBody()))
                .print();
        }
        producer.shutdown();
    }
}
