import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStoreClient;
import org.apache.hadoop.hive.metastore.api.Database;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/**
 * Hive's own client behind a login: Secure name=value... , a line a step, "step TAB ok|error TAB detail".
 *
 *   uri, as, keytab (none: no login), service (none: no SASL), qop, renewer, truststore (none: no TLS), steps=login|all
 */
public class Secure {
  static final Map<String, String> opt = new HashMap<>();

  interface Step { Object run() throws Exception; }

  static Object step(String name, Step s) {
    try {
      Object r = s.run();
      System.out.println(name + "\tok\t" + r);
      return r == null ? "" : r;
    } catch (Throwable t) {
      while (t.getCause() != null && (t instanceof java.lang.reflect.UndeclaredThrowableException
          || t instanceof java.lang.reflect.InvocationTargetException)) t = t.getCause();
      String text = String.valueOf(t.getMessage()).split("[\\r\\n]")[0];
      System.out.println(name + "\terror\t" + t.getClass().getSimpleName() + ": " + text);
      return null;
    }
  }

  static Configuration conf() {
    Configuration c = new Configuration();
    for (String k : new String[] {"hive.metastore.uris", "metastore.thrift.uris"}) c.set(k, opt.get("uri"));
    c.set("hive.metastore.connect.retries", "1");
    c.set("hive.metastore.failure.retries", "0");
    c.set("hive.metastore.client.connect.retry.delay", "1s");
    c.set("hive.metastore.client.socket.timeout", "60s");
    boolean sasl = opt.containsKey("service");
    c.set("hadoop.security.authentication", sasl || opt.containsKey("keytab") ? "kerberos" : "simple");
    if (sasl) {
      c.set("hive.metastore.sasl.enabled", "true");
      c.set("hive.metastore.kerberos.principal", opt.get("service"));
    }
    c.set("hadoop.rpc.protection", opt.getOrDefault("qop", "authentication"));
    if (opt.containsKey("truststore")) {
      c.set("hive.metastore.use.SSL", "true");
      c.set("hive.metastore.truststore.path", opt.get("truststore"));
      c.set("hive.metastore.truststore.password", "changeit");
    }
    return c;
  }

  static HiveMetaStoreClient open(UserGroupInformation u, Configuration c) throws Exception {
    return u.doAs((PrivilegedExceptionAction<HiveMetaStoreClient>) () -> new HiveMetaStoreClient(c));
  }

  /** Small calls, a reply of several tokens, and a call of several megabytes, which Java seals in one. */
  static void calls(String as, HiveMetaStoreClient c, String db) {
    step(as + " databases", () -> c.getAllDatabases());
    Map<String, String> p = new HashMap<>();
    for (int i = 0; i < 40; i++) p.put("k" + i, new String(new char[3900]).replace('\0', 'v'));
    step(as + " create", () -> { c.createDatabase(new Database(db, "made by a probe", null, p)); return db; });
    step(as + " get", () -> {
      Database d = c.getDatabase(db);
      int n = 0;
      for (String v : d.getParameters().values()) n += v.length();
      return d.getDescription() + ", " + n;
    });
    step(as + " large call", () -> {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 60000; i++) names.add("a_table_with_a_name_that_is_long_enough_to_matter_" + i);
      return c.getTableObjectsByName("nowhere_" + db, names).size();
    });
    step(as + " set_ugi", () -> {
      java.lang.reflect.Field f = HiveMetaStoreClient.class.getDeclaredField("client");
      f.setAccessible(true);
      return ((org.apache.hadoop.hive.metastore.api.ThriftHiveMetastore.Iface) f.get(c)).set_ugi("mallory", Arrays.asList("g1", "g2"));
    });
    step(as + " drop", () -> { c.dropDatabase(db, true, true); return db; });
  }

  static UserGroupInformation with(String owner, String text) throws Exception {
    Token<?> t = new Token<>();
    t.decodeFromUrlString(text);
    UserGroupInformation u = UserGroupInformation.createRemoteUser(owner);
    u.addToken(t);
    return u;
  }

  static String identifier(String text) throws Exception {
    Token<?> t = new Token<>();
    t.decodeFromUrlString(text);
    org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier d =
        (org.apache.hadoop.security.token.delegation.AbstractDelegationTokenIdentifier)
            Class.forName("org.apache.hadoop.hive.metastore.security.DelegationTokenIdentifier").getDeclaredConstructor().newInstance();
    d.readFields(new java.io.DataInputStream(new java.io.ByteArrayInputStream(t.getIdentifier())));
    return t.getKind() + " service '" + t.getService() + "' owner " + d.getOwner() + " renewer " + d.getRenewer() + " realUser " + d.getRealUser();
  }

  public static void main(String[] a) throws Exception {
    for (String s : a) opt.put(s.substring(0, s.indexOf('=')), s.substring(s.indexOf('=') + 1));
    Configuration c = conf();
    UserGroupInformation.setConfiguration(c);
    UserGroupInformation me;
    if (opt.containsKey("keytab")) {
      UserGroupInformation.loginUserFromKeytab(opt.get("as"), opt.get("keytab"));
      me = UserGroupInformation.getLoginUser();
    } else {
      me = UserGroupInformation.createRemoteUser(opt.get("as"));
    }
    HiveMetaStoreClient[] h = new HiveMetaStoreClient[1];
    step("connect", () -> { h[0] = open(me, c); return me.getUserName(); });
    if (h[0] == null) System.exit(1);
    if (!opt.getOrDefault("steps", "all").equals("all")) {
      step("databases", () -> h[0].getAllDatabases());
      System.exit(0);
    }
    calls("login", h[0], "secure_login");
    Object text = step("token", () -> identifier(h[0].getDelegationToken(me.getShortUserName(), opt.get("renewer"))));
    if (text == null) System.exit(1);
    String token = h[0].getDelegationToken(me.getShortUserName(), opt.get("renewer"));
    HiveMetaStoreClient[] t = new HiveMetaStoreClient[1];
    step("token connect", () -> { t[0] = open(with(me.getShortUserName(), token), c); return me.getShortUserName(); });
    if (t[0] != null) {
      calls("token", t[0], "secure_token");
      step("token for a token", () -> t[0].getDelegationToken(me.getShortUserName(), opt.get("renewer")));
    }
    step("token for another", () -> h[0].getDelegationToken("bob", "bob"));
    step("renew", () -> Math.round((h[0].renewDelegationToken(token) - System.currentTimeMillis()) / 3600000.0) + " h");
    step("cancel", () -> { h[0].cancelDelegationToken(token); return ""; });
    step("cancelled connect", () -> { open(with(me.getShortUserName(), token), c).close(); return ""; });
    if (t[0] != null) step("token close", () -> { t[0].close(); return ""; });
    step("close", () -> { h[0].close(); return ""; });
    System.exit(0);
  }
}
