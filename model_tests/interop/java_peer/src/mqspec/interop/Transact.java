package mqspec.interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;

/** Half messages are sent; what is decided at once, and what when the broker asks, are options. */
final class Transact implements Peer.Scenario {
    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer(options.text("group"), Settings.hook(options));
        Settings.apply(producer, options);
        String[] first = options.text("first").split(",");
        String[] later = options.text("later").split(",");
        producer.setTransactionListener(new Decision(report, first, later));
        producer.start();
        report.started(producer);
        for (int number = 0; number < options.count("count", 1); number++) {
            Message message = Messages.one(options, number);
            Produce.reportSent(report, Texts.decode(message.getBody()),
                producer.sendMessageInTransaction(message, number));
        }
        orders.awaitStop();
        producer.shutdown();
    }

    /** The states are taken in turn, by the number of the message. */
    private static final class Decision implements TransactionListener {
        private final Report report;
        private final String[] first;
        private final String[] later;
        private final Map<String, Integer> numbers = new ConcurrentHashMap<>();

        Decision(Report report, String[] first, String[] later) {
            this.report = report;
            this.first = first;
            this.later = later;
        }

        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object number) {
            numbers.put(message.getTransactionId(), (Integer) number);
            return decide("decided", message, message.getTransactionId(), first);
        }

        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            return decide("checked", message, message.getTransactionId(), later);
        }

        /** A message of another producer of the group has no number here; it is taken for the first. */
        private LocalTransactionState decide(String kind, Message message, String id, String[] states) {
            int number = numbers.getOrDefault(id, 0);
            LocalTransactionState state = LocalTransactionState.valueOf(states[number % states.length]);
            report.event(kind)
                .with("topic", message.getTopic())
                .with("body", Texts.decode(message.getBody()))
                .with("transactionId", id)
                .with("checkTimes", message.getUserProperty(MessageConst.PROPERTY_TRANSACTION_CHECK_TIMES))
                .with("state", state)
                .print();
            return state;
        }
    }
}
