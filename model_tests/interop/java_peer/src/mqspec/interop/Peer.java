package mqspec.interop;

import java.util.Map;

/** One scenario of the official client: the arguments say which, the output says what happened. */
public final class Peer {
    /** What one start of this program does. */
    interface Scenario {
        void run(Options options, Report report, Orders orders) throws Exception;
    }

    private static final Map<String, Scenario> SCENARIOS = Map.of(
        "produce", new Produce(),
        "transact", new Transact(),
        "push", new Push(),
        "lite-pull", new LitePull(),
        "pull", new Pull(),
        "request", new Request(),
        "respond", new Respond(),
        "reset-offset", new ResetOffset());

    private Peer() {
    }

    /** The exit status is 0 if the scenario did what it was told, and 1 otherwise. */
    public static void main(String[] arguments) {
        Report report = new Report();
        try {
            Options options = new Options(arguments);
            Scenario scenario = SCENARIOS.get(options.scenario());
            if (scenario == null) {
                throw new IllegalArgumentException("no scenario " + options.scenario());
            }
            scenario.run(options, report, new Orders());
            options.refuseUnread();
            report.event("ended").print();
        } catch (Exception error) {
            error.printStackTrace();
            report.event("failed").with("error", error.toString()).print();
            System.exit(1);
        }
        System.exit(0); // threads of the client may outlive its shutdown
    }
}
