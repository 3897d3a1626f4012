/** Prints the version of Jackson on the class path. */
class JacksonVersion {
    public static void main(String[] arguments) {
        String jackson = new com.fasterxml.jackson.databind.ObjectMapper().version().toString();
        System.out.println("Java " + Runtime.version().feature() + ", Jackson " + jackson);
    }
}
