package mqspec.interop;

import java.io.PrintStream;
import java.util.Collection;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;

/** The output: one JSON object a line. Whatever else is printed in this process goes to the error stream. */
final class Report {
    private final PrintStream output = System.out;

    Report() {
        System.setOut(System.err);
    }

    /** An event that is printed once it has all its values. */
    Event event(String kind) {
        return new Event().with("event", kind).with("atMs", System.currentTimeMillis());
    }

    void started(ClientConfig client) {
        event("started").with("clientId", client.buildMQClientId()).print();
    }

    /** What the client gave to its user, and what the user made of it. */
    void received(MessageExt message, String outcome) {
        Event event = event("received")
            .with("topic", message.getTopic())
            .with("queueId", message.getQueueId())
            .with("queueOffset", message.getQueueOffset())
            .with("messageId", message.getMsgId())
            .with("offsetMessageId", ((MessageClientExt) message).getOffsetMsgId())
            .with("tags", message.getTags())
            .with("keys", message.getKeys())
            .with("body", Texts.decode(message.getBody()))
            .with("reconsumeTimes", message.getReconsumeTimes())
            .with("bornMs", message.getBornTimestamp());
        event.with("outcome", outcome).print();
    }

    /** A JSON object that grows. */
    final class Event {
        private final StringBuilder text = new StringBuilder("{");

        Event with(String name, Object value) {
            if (value != null) {
                text.append(text.length() > 1 ? "," : "").append(quote(name)).append(':').append(encode(value));
            }
            return this;
        }

        /** The line is with the operating system afterwards, so that not even a kill loses it. */
        void print() {
            synchronized (output) {
                byte[] line = Texts.encode(text.append("}\n").toString());
                output.write(line, 0, line.length);
                output.flush();
            }
        }
    }

    private static String encode(Object value) {
        if (value instanceof Number || value instanceof Boolean) {
            return value.toString();
        }
        if (value instanceof Collection) {
            StringBuilder list = new StringBuilder("[");
            for (Object item : (Collection<?>) value) {
                list.append(list.length() > 1 ? "," : "").append(encode(item));
            }
            return list.append(']').toString();
        }
        return quote(value.toString());
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char unit : text.toCharArray()) {
            if (unit == '"' || unit == '\\') {
                quoted.append('\\').append(unit);
            } else if (unit < ' ') {
                quoted.append(String.format("\\u%04x", (int) unit));
            } else {
                quoted.append(unit);
            }
        }
        return quoted.append('"').toString();
    }
}
