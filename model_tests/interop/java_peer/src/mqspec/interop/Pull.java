package mqspec.interop;

import java.util.TreeSet;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Each queue is pulled from its first offset to its end, and where it ends is committed and asked for. */
final class Pull implements Peer.Scenario {
    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        @SuppressWarnings("deprecation") // lite pull replaces it, but programs that use it are still in service
        DefaultMQPullConsumer consumer =
            new DefaultMQPullConsumer(options.text("group"), Settings.hook(options));
        Settings.apply(consumer, options);
        consumer.start();
        report.started(consumer);
        String expression = options.text("expression", "*");
        int count = options.count("batch", 32);
        for (MessageQueue queue : new TreeSet<>(consumer.fetchSubscribeMessageQueues(options.text("topic")))) {
            pull(consumer, queue, expression, count, report);
        }
        consumer.shutdown();
    }

    @SuppressWarnings("deprecation")
    private static void pull(
        DefaultMQPullConsumer consumer, MessageQueue queue, String expression, int count, Report report)
        throws Exception {
        long offset = consumer.minOffset(queue);
        PullResult result = pullOnce(consumer, queue, expression, offset, count, report);
        while (result.getPullStatus() != PullStatus.NO_NEW_MSG) {
            if (result.getNextBeginOffset() <= offset) {
                throw new IllegalStateException("the next offset is not beyond " + offset + ": " + result);
            }
            offset = result.getNextBeginOffset();
            result = pullOnce(consumer, queue, expression, offset, count, report);
        }
        consumer.updateConsumeOffset(queue, offset);
        consumer.getOffsetStore().persist(queue);
        report.event("pulled")
            .with("queueId", queue.getQueueId())
            .with("minOffset", consumer.minOffset(queue))
            .with("maxOffset", consumer.maxOffset(queue))
            .with("committedOffset", consumer.fetchConsumeOffset(queue, true))
            .print();
    }

    @SuppressWarnings("deprecation")
    private static PullResult pullOnce(
        DefaultMQPullConsumer consumer, MessageQueue queue, String expression, long offset, int count, Report report)
        throws Exception {
        PullResult result = consumer.pull(queue, expression, offset, count);
        if (result.getPullStatus() == PullStatus.FOUND) {
            for (MessageExt message : result.getMsgFoundList()) {
                report.received(message, "pulled");
            }
        }
        return result;
    }
}
