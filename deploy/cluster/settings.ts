/* The settings of what stands around the service, with nothing in them that only a cluster on one machine needs but ports. */

export type PostgresPorts = { postgres: number; api: number };

/** Patroni: one of two PostgreSQL servers is the primary, the other its synchronous standby. */
export function patroniSettings(given: {
  name: string;
  folder: string;
  bin: string;
  etcd: number;
  ports: PostgresPorts;
  /** Those that the other server reaches it by. */
  portsForPeer: PostgresPorts;
}): string {
  const { name, folder, bin, etcd, ports, portsForPeer } = given;
  // JSON is YAML.
  return JSON.stringify({
    scope: 'work-management',
    name,
    restapi: { listen: `127.0.0.1:${ports.api}`, connect_address: `127.0.0.1:${portsForPeer.api}` },
    // As a proxy, so that it asks there and not at the address that etcd tells.
    etcd3: { proxy: `http://127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        // A primary whose machine vanishes is replaced after ttl, which is at least loop_wait and twice retry_timeout. A primary that
        // cannot reach etcd for retry_timeout steps down. Patroni 3.2 and later take no ttl below 20, and no retry_timeout below 3.
        ttl: 5,
        loop_wait: 1,
        retry_timeout: 2,
        // A primary that crashed is replaced at once, not restarted.
        master_start_timeout: 0,
        // COMMIT is answered when the standby has it too, so a failover loses nothing that was acknowledged.
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          parameters: { max_connections: 100, wal_keep_size: '256MB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${ports.postgres}`,
      connect_address: `127.0.0.1:${portsForPeer.postgres}`,
      data_dir: `${folder}/data`,
      bin_dir: bin,
      pgpass: `${folder}/pgpass`,
      authentication: {
        superuser: { username: 'postgres', password: 'postgres' },
        replication: { username: 'replicator', password: 'replicator' },
        rewind: { username: 'rewinder', password: 'rewinder' },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
    },
  });
}

/** HAProxy: the nodes that are ready at one port, the primary of PostgreSQL at another, and its standby at a third. */
export function haproxySettings(given: {
  http: number;
  postgres: number;
  standby: number;
  nodes: number[];
  servers: PostgresPorts[];
  /** A socket for commands, such as to take a node out. */
  socket: string;
}): string {
  const nodes = given.nodes.map((port, index) => `  server node${index + 1} 127.0.0.1:${port} check`);
  const servers = given.servers.map(
    ({ postgres, api }, index) => `  server postgres${index + 1} 127.0.0.1:${postgres} check port ${api}`,
  );
  return `global
  maxconn 4000
  stats socket ${given.socket} mode 600 level admin
defaults
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  # WebSockets, and streams of events, on which the service says something every 25 seconds.
  timeout tunnel 1h
frontend http
  bind 127.0.0.1:${given.http}
  mode http
  option forwardfor
  # What it answers itself, where no node is ready or one has gone, tells callers to try again, as the service does.
  http-error status 502 content-type application/problem+json hdr Retry-After 1 string '${problemOf(502, 'Bad Gateway')}'
  http-error status 503 content-type application/problem+json hdr Retry-After 1 string '${problemOf(503, 'Service Unavailable')}'
  http-error status 504 content-type application/problem+json hdr Retry-After 1 string '${problemOf(504, 'Gateway Timeout')}'
  default_backend nodes
backend nodes
  mode http
  balance leastconn
  option httpchk GET /readyz
  # A node that is going is skipped; a request that reached none is given to another. One that a node took and did not answer may
  # have happened: it is only repeated where that does no harm.
  option redispatch
  retries 3
  retry-on conn-failure empty-response 503
  http-request disable-l7-retry unless METH_GET or { req.hdr(idempotency-key) -m found }
  default-server inter 1s fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down
${nodes.join('\n')}
listen postgres
  bind 127.0.0.1:${given.postgres}
  mode tcp
  timeout client 30m
  timeout server 30m
  # Patroni answers 200 there for the primary alone. Connections to one that is no longer primary are cut.
  option httpchk GET /primary
  default-server inter 1s downinter 300ms fall 1 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
listen standby
  bind 127.0.0.1:${given.standby}
  mode tcp
  timeout client 30m
  timeout server 30m
  option httpchk GET /replica
  default-server inter 1s fall 1 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}

const problemOf = (status: number, title: string): string => JSON.stringify({ type: 'about:blank', status, title });

/** PgBouncer, as docs/operations.md has it. */
export function pgbouncerSettings(given: { port: number; postgres: number; users: string }): string {
  return `[databases]
* = host=127.0.0.1 port=${given.postgres} connect_query='set jit to off; set statement_timeout to 30000; set lock_timeout to 10000; set idle_in_transaction_session_timeout to 60000'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${given.port}
unix_socket_dir =
auth_type = trust
auth_file = ${given.users}
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
server_login_retry = 0.2
query_wait_timeout = 10
tcp_user_timeout = 10000
`;
}
