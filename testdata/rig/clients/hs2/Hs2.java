import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * Hs2 CLASSPATH PORT: a HiveServer2 on that port of loopback and one JDBC session at it, in one process that ends with its input.
 *
 * A line of input is "sql" and a statement, or "meta", a method of DatabaseMetaData and its arguments, with tabs between (\N is null).
 * Each is answered by a line of JSON: a list of rows, or {"error": [class, message]}.
 */
public class Hs2 {
  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err); // what Hive prints is no answer
    int port = Integer.parseInt(args[1]);
    List<URL> urls = new ArrayList<>();
    for (String p : args[0].split(File.pathSeparator)) urls.add(new File(p).toURI().toURL());
    // Hive 3 casts the context class loader to this class, which the JVM's own is not since Java 9
    ClassLoader hive = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(hive);
    try {
      start(hive);
      try (Connection c = connect(hive, port)) {
        out.println("[]");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) out.println(answer(c, line.split("\t", -1)));
      }
    } catch (Throwable e) {
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
    }
    System.exit(0);
  }

  /** HiveServer2.main, but that 3.1 would listen on every address whatever it is told: the host is set between init and start. */
  static void start(ClassLoader hive) throws Exception {
    Class<?> conf = hive.loadClass("org.apache.hadoop.hive.conf.HiveConf");
    Object server = hive.loadClass("org.apache.hive.service.server.HiveServer2").getConstructor().newInstance();
    server.getClass().getMethod("init", conf).invoke(server, conf.getConstructor().newInstance());
    Field service = server.getClass().getDeclaredField("thriftCLIService");
    service.setAccessible(true);
    Field host = hive.loadClass("org.apache.hive.service.cli.thrift.ThriftCLIService").getDeclaredField("hiveHost");
    host.setAccessible(true);
    host.set(service.get(server), "127.0.0.1");
    server.getClass().getMethod("start").invoke(server);
  }

  static Connection connect(ClassLoader hive, int port) throws Exception {
    // a service starts in a thread of its own, and one that cannot says so in the log only
    for (long end = System.nanoTime() + 60_000_000_000L; ; Thread.sleep(50)) {
      try (Socket s = new Socket(InetAddress.getLoopbackAddress(), port)) {
        break;
      } catch (IOException e) {
        if (System.nanoTime() > end) throw e;
      }
    }
    Driver d = (Driver) hive.loadClass("org.apache.hive.jdbc.HiveDriver").getConstructor().newInstance();
    Properties who = new Properties();
    who.setProperty("user", System.getProperty("user.name"));
    return d.connect("jdbc:hive2://127.0.0.1:" + port + "/", who);
  }

  static String answer(Connection c, String[] what) {
    try (Statement s = c.createStatement()) {
      if (what[0].equals("meta")) return rows(meta(c.getMetaData(), what[1], Arrays.copyOfRange(what, 2, what.length)));
      return s.execute(what[1]) ? rows(s.getResultSet()) : "[]";
    } catch (Exception e) {
      Throwable t = e instanceof InvocationTargetException ? e.getCause() : e;
      return "{\"error\": [" + json(t.getClass().getSimpleName()) + ", " + json(t.getMessage()) + "]}";
    }
  }

  static ResultSet meta(DatabaseMetaData m, String name, String[] texts) throws Exception {
    Method method = Arrays.stream(DatabaseMetaData.class.getMethods())
        .filter(x -> x.getName().equals(name) && x.getParameterCount() == texts.length).findFirst().orElseThrow();
    Object[] args = new Object[texts.length];
    for (int i = 0; i < args.length; i++) {
      String s = texts[i].equals("\\N") ? null : texts[i];
      args[i] = s != null && method.getParameterTypes()[i].isArray() ? s.split(",") : s;
    }
    return (ResultSet) method.invoke(m, args);
  }

  static String rows(ResultSet r) throws Exception {
    List<String> rows = new ArrayList<>();
    int n = r.getMetaData().getColumnCount();
    while (r.next()) {
      List<String> row = new ArrayList<>();
      for (int i = 1; i <= n; i++) row.add(json(r.getString(i)));
      rows.add(row.toString());
    }
    r.close();
    return rows.toString();
  }

  static String json(String s) {
    if (s == null) return "null";
    return s.chars().mapToObj(c -> c < ' ' || c == '"' || c == '\\' || c > '~' ? String.format("\\u%04x", c) : String.valueOf((char) c))
        .collect(Collectors.joining("", "\"", "\""));
  }
}
