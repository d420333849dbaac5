package mqspec.interop;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.common.message.Message;

/** The messages that the options ask for: numbered bodies and keys, tags in turn. */
final class Messages {
    private Messages() {
    }

    static Message one(Options options, int number) {
        String[] tags = options.text("tags", "").split(",", -1);
        String body = options.text("body", "message") + "-" + number;
        Message message = new Message(options.text("topic"), Texts.encode(body));
        message.setKeys("key-" + body);
        if (!tags[number % tags.length].isEmpty()) {
            message.setTags(tags[number % tags.length]);
        }
        int level = options.count("delay-level", 0);
        if (level > 0) {
            message.setDelayTimeLevel(level);
        }
        return message;
    }

    static List<Message> all(Options options) {
        List<Message> messages = new ArrayList<>();
        for (int number = 0; number < options.count("count", 1); number++) {
            messages.add(one(options, number));
        }
        return messages;
    }
}
