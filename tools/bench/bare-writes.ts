// The bare server of writes: Fastify and pg, one statement for a write, and a step less or more of what the product
// promises of it (STEP, write-steps.ts). Forked by writes.ts.
import { hash } from 'node:crypto';
import { createPool, type Pool, sendBurst, type Statement } from '@muster/database';
import { fastify, type FastifyRequest } from 'fastify';
import pg from 'pg';
import { doesSteps, metrics, serve } from './bare-server.ts';
import { bareStatements } from './bare-statements.ts';
import { stepNames } from './write-steps.ts';

const does = doesSteps(stepNames);

/** On the product's own tables: their foreign keys, their months, and what their triggers keep. */
const onTables = (text: string): string =>
  text.replaceAll(/\bbare\.(stories|comments|activity|audit|outbox)\b/g, 'public.$1');

/** Numbers that another transaction gets only after this one has ended, instead of a sequence's. */
const numbered = (text: string): string =>
  text
    .replace(
      /^with /,
      'with t as (update public.streams set audit = audit + 1, activity = activity + 1 where org_id = $1::uuid returning audit, activity), ',
    )
    .replaceAll(`nextval('bare.activity_seq')`, '(select activity from t)')
    .replaceAll(`nextval('bare.audit_seq')`, '(select audit from t)');

const textOf = (text: string): string => {
  const kept = does('kept') ? onTables(text) : text;
  return does('numbered') ? numbered(kept) : kept;
};

/** Names in the body of a write. */
interface Body {
  readonly orgId: string;
  readonly storyId: string;
  readonly columnId?: string;
}

interface Rights {
  readonly epoch: string;
  readonly expires_at: string | null;
  readonly project_id: string;
}

/** What the way in answered once of a token and a story, which it takes instead of looking again. */
const rights = new Map<string, Rights>();

const plain = (sql: string): Statement => ({ sql, parameters: [] });
const hold: Statement = plain('select app.hold_open() as archived');

type Path = '/comments/create' | '/stories/updateStatus';

/** What a write looks at and locks before it decides, besides the story. */
const looks: Readonly<Record<Path, (body: Body) => readonly Statement[]>> = {
  '/comments/create': () => [],
  // Moves of one project take turns; a column may hold so many stories; the new place is behind the last of them.
  '/stories/updateStatus': ({ orgId, storyId, columnId }) => [
    {
      sql: `select k.project_id from project_counters k where k.org_id = $1
        and k.project_id = (select s.project_id from stories s where s.org_id = $1 and s.id = $2) for no key update`,
      parameters: [orgId, storyId],
    },
    {
      sql: `select c.id, c.wip_limit, c.story_count from board_columns c where c.org_id = $1
        and c.id in ($3, (select s.column_id from stories s where s.org_id = $1 and s.id = $2)) order by c.id for no key update`,
      parameters: [orgId, storyId, columnId],
    },
    {
      sql: `select n.rank from stories n where n.org_id = $1 and n.column_id = $3
        and n.project_id = (select s.project_id from stories s where s.org_id = $1 and s.id = $2) order by n.rank desc limit 1`,
      parameters: [orgId, storyId, columnId],
    },
  ],
};

async function enter(
  client: pg.ClientBase,
  request: FastifyRequest,
  { orgId, storyId }: Body,
  looked: readonly Statement[],
): Promise<void> {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const known = rights.get(storyId);
  const results = await sendBurst(client, [
    plain('begin'),
    {
      sql: 'select * from app.enter($1, 1, $2, $3, 2, null, $4, $5, $6, $7)',
      parameters: [
        ...[hash('sha256', token, 'buffer'), 'story', storyId],
        ...[known && orgId, known?.epoch, known?.expires_at, known && `{${known.project_id}}`].map(
          (value) => value ?? null,
        ),
      ],
    },
    hold,
    {
      sql: `select s.id, s.version, s.column_id, s.title, p.key from stories s
        join projects p on p.org_id = s.org_id and p.id = s.project_id
        where s.org_id = $1 and s.id = $2 for no key update of s`,
      parameters: [orgId, storyId],
    },
    ...looked,
  ]);
  const [found, story] = [results[1]?.rows[0], results[3]?.rows[0]];
  if (story === undefined) throw new Error('no such story');
  if (known === undefined) rights.set(storyId, found as unknown as Rights);
}

/** Looks first, and then writes: BEGIN, two round trips, COMMIT. */
async function decide(
  pool: Pool,
  request: FastifyRequest,
  statement: Statement,
  path: Path,
): Promise<unknown> {
  const body = request.body as Body;
  const client = await pool.connect();
  let isFit = false;
  try {
    await enter(client, request, body, looks[path](body));
    const [written] = await sendBurst(client, [statement, plain('commit')]);
    isFit = true;
    return written?.rows[0];
  } finally {
    client.release(!isFit);
  }
}

const url = process.env['DATABASE_URL'] ?? '';
const max = Number(process.env['DATABASE_POOL']);
const bare = new pg.Pool({ connectionString: url, max, idleTimeoutMillis: 0 });
const entered = createPool({ url, role: 'muster_app', name: 'bare-writes', max });

const app = fastify();
for (const path of Object.keys(looks) as Path[]) {
  const { values, answer, ...statement } = bareStatements[path];
  const text = textOf(statement.text);
  app.post(path, async (request, reply) => {
    const body = request.body as Record<string, unknown>;
    const parameters = values.map((value) => body[value]);
    const run = async (): Promise<unknown> => {
      if (!does('statement')) return body;
      if (!does('decided')) return (await bare.query({ name: path, text, values: parameters })).rows[0];
      return decide(entered, request, { sql: text, parameters }, path);
    };
    const row = await run();
    if (row === undefined) throw new Error('no such row');
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ [answer]: row }));
  });
}

app.get('/metrics', metrics);

serve(await app.listen({ host: '127.0.0.1', port: 0 }));
