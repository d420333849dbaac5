package mqspec.interop;

import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;

/** What every client of a scenario is configured with. */
final class Settings {
    private static final int SHORT_INTERVAL_MS = 1000;

    private Settings() {
    }

    /** The client knows its name server, and repeats what it does at intervals sooner than by default. */
    static void apply(ClientConfig client, Options options) {
        client.setNamesrvAddr(options.text("name-server"));
        client.setPollNameServerInterval(SHORT_INTERVAL_MS);
        client.setHeartbeatBrokerInterval(SHORT_INTERVAL_MS);
        client.setPersistConsumerOffsetInterval(SHORT_INTERVAL_MS);
        client.setUseTLS(options.flag("tls"));
        client.setInstanceName(options.text("instance", client.getInstanceName()));
    }

    /** Signs every request if the client has keys, and is null otherwise, as the client wants it. */
    static RPCHook hook(Options options) {
        String accessKey = options.text("access-key", null);
        if (accessKey == null) {
            return null;
        }
        return new AclClientRPCHook(new SessionCredentials(accessKey, options.text("secret-key")));
    }
}
