package mqspec.interop;

import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/** The broker was asked to take a group back to an instant, and said to which offsets. */
final class ResetOffset implements Peer.Scenario {
    @Override
    public void run(Options options, Report report, Orders orders) throws Exception {
        DefaultMQAdminExt admin = new DefaultMQAdminExt(Settings.hook(options));
        Settings.apply(admin, options);
        admin.setInstanceName("admin");
        admin.start();
        report.started(admin);
        long instant = options.number("instant-ms", -1);
        admin.resetOffsetByTimestamp(options.text("topic"), options.text("group"), instant, true)
            .forEach((queue, offset) -> report.event("reset")
                .with("queueId", queue.getQueueId())
                .with("offset", offset)
                .print());
        admin.shutdown();
    }
}
