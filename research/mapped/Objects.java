public class Objects {
    public static void main(String[] arguments) throws InterruptedException {
        Object[] kept = new Object[Integer.parseInt(arguments[0])];
        for (int i = 0; i < kept.length; i++) kept[i] = new long[4];
        if (arguments.length > 1) Thread.sleep(Integer.parseInt(arguments[1]));
        System.out.println(kept.length);
    }
}
