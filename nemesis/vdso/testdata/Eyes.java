/** Tells what a JVM sees: for each line on its standard input, the wall clock in milliseconds and nanoTime. */
public class Eyes {
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[0]); i++) { // threads that read the clocks as fast as they can
            Thread t = new Thread(() -> {
                long last = System.nanoTime();
                while (true) {
                    long now = System.nanoTime();
                    if (now < last) {
                        System.err.println("nanoTime went back");
                        Runtime.getRuntime().halt(1);
                    }
                    last = now;
                    sink = System.currentTimeMillis();
                }
            });
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.println(System.currentTimeMillis() * 1_000_000L + " " + System.nanoTime());
        }
    }
}
