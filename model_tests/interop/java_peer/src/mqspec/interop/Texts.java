package mqspec.interop;

import java.nio.charset.StandardCharsets;

/** Bodies are texts here, and their bytes are UTF-8. */
final class Texts {
    private Texts() {
    }

    static byte[] encode(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String decode(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
