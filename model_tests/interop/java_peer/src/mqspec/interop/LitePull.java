package mqspec.interop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** A lite pull consumer that polls, commits and seeks as it is told, one order a line. */
final class LitePull implements Peer.Scenario {
    private static final long POLL_LIMIT_MS = 20_000;
    private static final long POLL_MS = 500;

    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        DefaultLitePullConsumer consumer =
            new DefaultLitePullConsumer(options.text("group"), Settings.hook(options));
        Settings.apply(consumer, options);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setAutoCommit(false);
        String topic = options.text("topic");
        String assigned = options.text("queues", null);
        if (assigned == null) {
            consumer.subscribe(topic, options.text("expression", "*"));
        }
        consumer.start();
        if (assigned != null) {
            consumer.assign(choose(consumer.fetchMessageQueues(topic), List.of(assigned.split(","))));
        }
        report.started(consumer);
        for (String order = orders.next(); !order.equals(Orders.STOP); order = orders.next()) {
            obey(order.split(" "), consumer, topic, report);
        }
        consumer.shutdown();
    }

    private static void obey(String[] order, DefaultLitePullConsumer consumer, String topic, Report report)
        throws Exception {
        switch (order[0]) {
            case "poll":
                poll(consumer, Integer.parseInt(order[1]), report);
                break;
            case "commit":
                consumer.commit(consumer.assignment(), true);
                report.event("committed").print();
                break;
            case "seek":
                consumer.seek(queue(consumer, topic, order[1]), Long.parseLong(order[2]));
                report.event("sought").print();
                break;
            default:
                throw new IllegalArgumentException("no order " + order[0]);
        }
    }

    /** At least so many messages were polled, or the time is over; fewer is for the reader to judge. */
    private static void poll(DefaultLitePullConsumer consumer, int wanted, Report report) {
        int count = 0;
        long until = System.currentTimeMillis() + POLL_LIMIT_MS;
        while (count < wanted && System.currentTimeMillis() < until) {
            for (MessageExt message : consumer.poll(POLL_MS)) {
                report.received(message, "polled");
                count++;
            }
        }
        report.event("polled").with("count", count).print();
    }

    private static MessageQueue queue(DefaultLitePullConsumer consumer, String topic, String id)
        throws MQClientException {
        return choose(consumer.fetchMessageQueues(topic), List.of(id)).get(0);
    }

    private static List<MessageQueue> choose(Collection<MessageQueue> queues, List<String> ids) {
        List<MessageQueue> chosen = new ArrayList<>(queues);
        chosen.removeIf(queue -> !ids.contains(Integer.toString(queue.getQueueId())));
        return chosen;
    }
}
