/** Faults planted into the SQL on its way to Postgres. Each has to be noticed, or the model looks away somewhere. */
import { type Rewrite } from '../../tap.ts';

export interface Mutant {
  readonly name: string;
  readonly rewrites: readonly Rewrite[];
  /** What has to happen first is rare. */
  readonly onlyLong?: boolean;
}

const mutant = (name: string, ...rewrites: Rewrite[]): Mutant => ({ name, rewrites });
const rareMutant = (name: string, ...rewrites: Rewrite[]): Mutant => ({ name, rewrites, onlyLong: true });

/** In the execution as an acquire reads it, and in the lease as a holder's operation does. */
const acquiresExecution = 'order by e.id for no key update';
const holdersLease = '(l.unit_type, l.unit_id) =';

export const mutants: readonly Mutant[] = [
  mutant('a grant to another holder keeps the epoch', {
    find: `set state = 'held', epoch = $4,`,
    put: `set state = 'held', epoch = least($4::int, $13::int),`,
  }),
  mutant('a grant skips an epoch', {
    find: `set state = 'held', epoch = $4,`,
    put: `set state = 'held', epoch = $4 + (epoch <> $4)::int,`,
  }),
  mutant('the token before a re-acquire stays good', {
    find: 'token_hash = $5, holder = $6',
    put: 'token_hash = case when epoch = $4 then token_hash else $5 end, holder = $6',
  }),
  mutant('a lease granted anew keeps its time', {
    find: 'expires_at = $11,',
    put: 'expires_at = coalesce(expires_at, $11),',
  }),
  mutant('a holder that is late is refused, by a clock in its check', {
    find: holdersLease,
    put: `l.expires_at > clock_timestamp() and ${holdersLease}`,
  }),
  mutant('a holder that is late writes nothing, by a clock in the fence', {
    find: `and l.state = 'held' and l.epoch =`,
    put: `and l.expires_at > clock_timestamp() and l.state = 'held' and l.epoch =`,
    where: 'update executions e set',
  }),
  mutant('expiry is not seen by who acquires', {
    find: 'select clock_timestamp()::timestamptz(3) as now',
    put: `select (clock_timestamp() - interval '1 day')::timestamptz(3) as now`,
  }),
  mutant('a renewal does not renew', {
    find: 'set ttl_seconds = $6, expires_at = $7',
    put: 'set ttl_seconds = $6, expires_at = least(expires_at, $7)',
  }),
  mutant('an end leaves the lease held', {
    find: 'and epoch = $4 and token_hash = $5',
    put: 'and epoch = $4 and token_hash = $5 and false',
    where: 'ended_token_hash = $5',
  }),
  rareMutant('the winner of an end is forgotten', {
    find: 'ended_token_hash = $5',
    put: 'ended_token_hash = null::bytea',
    where: 'ended_by = $6',
  }),
  mutant('a story does not see the lease of its group', {
    find: 'm.group_id, m.project_id from delivery_group_stories m',
    put: 'm.group_id, m.project_id from (select * from delivery_group_stories where false) m',
    where: 'from leases l',
  }),
  mutant('a group does not see the leases of its stories', {
    find: 'm.story_id, m.project_id from delivery_group_stories m',
    put: 'm.story_id, m.project_id from (select * from delivery_group_stories where false) m',
    where: 'from leases l',
  }),
  mutant(`an expired rival's lease is not set free`, {
    find: 'and unit_id = $3 and epoch = $4',
    put: 'and unit_id = $3 and epoch = $4 and false',
    where: `set state = 'free', token_hash = null`,
  }),
  rareMutant('an offer is not reserved', {
    find: 'e.offer,',
    put: 'null::jsonb as offer,',
    where: acquiresExecution,
  }),
  mutant('a stop is not kept from who was stopped', {
    find: 'e.stop_requested,',
    put: 'null::jsonb as stop_requested,',
    where: acquiresExecution,
  }),
  mutant('the checkpoint is lost at a take-over', {
    find: 'e.checkpoint_seq,',
    put: '0 as checkpoint_seq,',
    where: 'e.id = $2 for no key update',
  }),
  mutant('events are counted twice', {
    find: 'last_event_seq = last_event_seq + jsonb_array_length($5::jsonb)',
    put: 'last_event_seq = last_event_seq + 2 * jsonb_array_length($5::jsonb)',
  }),
  mutant('a holder is told again what it was told', {
    find: 'and v.seq > $4',
    put: 'and v.seq > least($4::int, 0)',
  }),
  mutant('locks outlive the work', {
    find: 'delete from locks where org_id = $1 and execution_id = $2',
    put: 'delete from locks where org_id = $1 and execution_id = $2 and false',
  }),
  rareMutant('a canceled story leaves its lease held', {
    find: `and unit_type = 'story' and unit_id = $2 and state = 'held'`,
    put: `and unit_type = 'story' and unit_id = $2 and state = 'held' and false`,
  }),
  rareMutant('an answered question wakes nobody', {
    find: `and waiting_for = $2 and state = 'waiting_input'`,
    put: `and waiting_for = $2 and state = 'waiting_input' and false`,
  }),
];
