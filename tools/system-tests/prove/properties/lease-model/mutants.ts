/**
 * Faults that are inserted into the SQL on its way to Postgres. The model must detect each of them; otherwise
 * it does not check enough.
 */
import { type Instead, never, swapped, without } from '../../guards.ts';

const mutant = (name: string, guard: string, put: Instead) => ({ name, without: [without(guard, put)] });
/** Creates a mutant whose detection takes more than a second. */
const slowMutant = (name: string, guard: string, put: Instead) => ({
  ...mutant(name, guard, put),
  leftTo: 'nx long' as const,
});
/** Creates a mutant that shows only after a rare sequence of commands. */
const rareMutant = (name: string, guard: string, put: Instead) => ({
  ...mutant(name, guard, put),
  leftTo: 'the long form' as const,
});

/**
 * Replaces the epoch and the token hash in the SQL of a grant. `write` receives the numbers of their
 * parameters, such as `$3`.
 */
const grant =
  (write: (epoch: string, token: string) => string): Instead =>
  (guarded) => {
    const [, epoch, token] = /epoch = (\$\d+), token_hash = (\$\d+)/.exec(guarded) ?? [];
    if (epoch === undefined || token === undefined) throw new Error('a grant writes otherwise');
    return write(epoch, token);
  };
const grantValues = 'epoch and token of a grant';
const asAcquired = 'the executions as an acquire reads them';

export const mutants = [
  mutant(
    'a grant to another holder keeps the epoch',
    grantValues,
    grant((epoch, token) => `epoch = least(${epoch}::int, leases.epoch), token_hash = ${token}`),
  ),
  mutant(
    'a grant skips an epoch',
    grantValues,
    grant((epoch, token) => `epoch = ${epoch}::int + (epoch <> ${epoch}::int)::int, token_hash = ${token}`),
  ),
  slowMutant(
    'the token before a re-acquire stays good',
    grantValues,
    grant(
      (epoch, token) =>
        `epoch = ${epoch}, token_hash = case when epoch = ${epoch}::int then token_hash else ${token} end`,
    ),
  ),
  slowMutant(
    'a lease that is granted again keeps its old end',
    'the time of a grant',
    (time) => `coalesce(expires_at, ${time})`,
  ),
  mutant(
    'a late holder is refused, by a clock in its check',
    'no clock in the check of a holder',
    (check) => `l.expires_at > clock_timestamp() and ${check}`,
  ),
  slowMutant(
    'a late holder writes nothing, by a clock in the fence',
    'fence',
    (fence) => `l.expires_at > clock_timestamp() and ${fence}`,
  ),
  mutant(
    'an acquire does not see expiry',
    'the time by which leases are judged',
    swapped('clock_timestamp()', `(clock_timestamp() - interval '1 day')`),
  ),
  slowMutant('a renewal does not renew', 'the time of a renewal', (time) => `least(expires_at, ${time})`),
  mutant('an end leaves the lease held', 'a lease is freed by its holder', never),
  rareMutant(
    'the call that ended a lease is forgotten',
    'the call that ended a lease',
    (token) => `case when false then ${token}::bytea end`,
  ),
  mutant('a story does not see the lease of its group', "a story's group excludes it", never),
  slowMutant('a group does not see the leases of its stories', "a group's stories exclude it", never),
  mutant(`an expired rival's lease is not freed`, 'a lease is freed for others', never),
  rareMutant('an offer is not reserved', asAcquired, swapped('e.offer,', 'null::jsonb as offer,')),
  slowMutant(
    'an acquire does not see that a stop was requested',
    asAcquired,
    swapped('e.stop_requested,', 'null::jsonb as stop_requested,'),
  ),
  slowMutant(
    'the checkpoint is lost at a take-over',
    'the execution as its holder reads it',
    swapped('e.checkpoint_seq,', '0 as checkpoint_seq,'),
  ),
  mutant('events are counted twice', 'each event has one number', (count) => `2 * ${count}`),
  slowMutant(
    'a holder gets the same signals again',
    'a holder is told once',
    (seq) => `least(${seq}::int, 0)`,
  ),
  mutant('locks outlive the work', 'locks end with their work', never),
  mutant(
    'a renewal does not extend the locks of the work',
    'locks last as long as their lease',
    (time) => `least(expires_at, ${time})`,
  ),
  slowMutant(
    'a lapsed lock stays when another holder is granted its paths',
    'a grant takes out what it passes over',
    never,
  ),
  rareMutant('a canceled story leaves its lease held', 'a canceled story frees its lease', never),
  rareMutant('an answered question leaves its work waiting', 'an answer wakes who waits', never),
];
