public class Objects {
    public static void main(String[] arguments) {
        Object[] kept = new Object[Integer.parseInt(arguments[0])];
        for (int i = 0; i < kept.length; i++) kept[i] = new long[4];
        System.out.println(kept.length);
    }
}
