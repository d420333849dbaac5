package mqspec.interop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;

/** The client's default allocation, reported whenever a member's share of a topic changes. */
final class ReportedAllocation implements AllocateMessageQueueStrategy {
    private final AllocateMessageQueueStrategy inner = new AllocateMessageQueueAveragely();
    private final Map<String, List<Integer>> shares = new HashMap<>();
    private final Report report;

    ReportedAllocation(Report report) {
        this.report = report;
    }

    @Override
    public synchronized List<MessageQueue> allocate(
        String group, String member, List<MessageQueue> queues, List<String> members) {
        List<MessageQueue> chosen = inner.allocate(group, member, queues, members);
        String topic = queues.get(0).getTopic();
        List<Integer> share = new ArrayList<>();
        chosen.forEach(queue -> share.add(queue.getQueueId()));
        if (!share.equals(shares.put(topic, share))) {
            report.event("allocated").with("topic", topic).with("queueIds", share).print();
        }
        return chosen;
    }

    @Override
    public String getName() {
        return inner.getName();
    }
}
