package mqspec.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** What the running scenario is told, line by line; the end of the input is the order to stop. */
final class Orders {
    static final String STOP = "stop";

    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    Orders() {
        Thread reader = new Thread(this::read, "orders");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                lines.add(line);
            }
        } catch (IOException lost) {
            lost.printStackTrace();
        }
        lines.add(STOP);
    }

    /** The next order, however long it takes to come. */
    String next() throws InterruptedException {
        return lines.take();
    }

    /** Nothing more is to be done, and that was said. */
    void awaitStop() throws InterruptedException {
        String order = next();
        if (!order.equals(STOP)) {
            throw new IllegalArgumentException("this scenario only knows " + STOP + ", not " + order);
        }
    }

    boolean isWaiting() {
        return !lines.isEmpty();
    }
}
