package mqspec.interop;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The arguments: the name of the scenario, then pairs of an option and its value. */
final class Options {
    private final String scenario;
    private final Map<String, String> values = new LinkedHashMap<>();
    private final Set<String> read = new HashSet<>();

    Options(String[] arguments) {
        if (arguments.length % 2 == 0) {
            throw new IllegalArgumentException("expected a scenario and pairs of --option value");
        }
        scenario = arguments[0];
        for (int at = 1; at < arguments.length; at += 2) {
            if (!arguments[at].startsWith("--")) {
                throw new IllegalArgumentException("not an option: " + arguments[at]);
            }
            values.put(arguments[at].substring(2), arguments[at + 1]);
        }
    }

    String scenario() {
        return scenario;
    }

    String text(String name) {
        String value = text(name, null);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    String text(String name, String otherwise) {
        read.add(name);
        return values.getOrDefault(name, otherwise);
    }

    long number(String name, long otherwise) {
        return Long.parseLong(text(name, Long.toString(otherwise)));
    }

    int count(String name, int otherwise) {
        return Math.toIntExact(number(name, otherwise));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(text(name, "false"));
    }

    /** An option that the scenario did not look at was a mistake of whoever started it. */
    void refuseUnread() {
        Set<String> unread = new HashSet<>(values.keySet());
        unread.removeAll(read);
        if (!unread.isEmpty()) {
            throw new IllegalArgumentException("the scenario has no option " + unread);
        }
    }
}
