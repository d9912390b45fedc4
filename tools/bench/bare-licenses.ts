// The bare license server: Fastify and pg, the one statement for each path, and nothing else. Forked by licenses.ts.
import { fastify } from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL']),
});
const app = fastify();

const state = `case when status <> 'active' then status when expires_at <= clock_timestamp() then 'expired'
  when machine_hash = sha256($2::text::bytea) then 'active' when machine_hash is not null then 'other_machine'
  else 'unactivated' end as state`;

const found = 'from bare.licenses where key_hash = sha256($1::text::bytea)';

const activate = `with l as materialized (select *, ${state} ${found} for no key update),
  u as (update bare.licenses b set machine_hash = sha256($2::text::bytea), last_seen_at = clock_timestamp(),
      expires_at = coalesce(l.expires_at, clock_timestamp() + make_interval(secs => l.duration_seconds)),
      bound_at = coalesce(l.bound_at, clock_timestamp())
    from l where b.id = l.id and l.state in ('active', 'unactivated') returning b.expires_at)
  select l.plan, l.state, u.expires_at as "expiresAt" from l left join u on true`;

const check = `select plan, ${state}, expires_at as "expiresAt" ${found}`;

interface Asked {
  readonly licenseKey: string;
  readonly machineId: string;
}

app.post('/api/activate', async (request) => {
  const { licenseKey, machineId } = request.body as Asked;
  const { rows } = await pool.query({ name: 'activate', text: activate, values: [licenseKey, machineId] });
  return { success: true, license: rows[0] as unknown };
});

app.get('/api/activate/check', async (request) => {
  const { licenseKey, machineId } = request.query as Asked;
  const { rows } = await pool.query({ name: 'check', text: check, values: [licenseKey, machineId] });
  return rows[0] as unknown;
});

/** The two numbers that are read of the product's too, in the same words. */
app.get('/metrics', () => {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\nprocess_resident_memory_bytes ${process.memoryUsage().rss}\n`;
});

process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
process.on('disconnect', () => process.exit(0));
