/** What is known of a story, and what of it is changed in its place. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Assignment, type Priority, type Story } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { notify, reasonFor } from '../parts/notices.tsx';
import { agentsQuery, membersQuery } from '../settings/queries.ts';
import { t } from '../texts/index.ts';
import { w } from '../texts/story.ts';

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const words = <Value extends string>(all: Readonly<Record<Value, string>>): ReactNode =>
  (Object.keys(all) as Value[]).map((value) => (
    <option key={value} value={value}>
      {all[value]}
    </option>
  ));

export function EditableFacts({
  story,
  assignment,
}: {
  readonly story: Story;
  readonly assignment: Assignment | null;
}) {
  const client = useClient();
  const queries = useQueryClient();
  const members = useQuery(membersQuery(client));
  const agents = useQuery(agentsQuery(client));
  const { id: storyId, key, status, priority, version } = story;
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      notify({ tone: 'bad', title: w.notDone, body: reasonFor(error) });
    }
    await queries.invalidateQueries({ queryKey: ['story', key] });
  };
  const choice = (label: string, value: string, change: (value: string) => unknown, options: ReactNode) => (
    <Fact name={label}>
      <select
        className="field fact-choice"
        aria-label={label}
        value={value}
        onChange={({ target }) => change(target.value)}
      >
        {options}
      </select>
    </Fact>
  );
  const assign = (who: { memberId: string | null } | { agentId: string | null }): Promise<void> =>
    run(() => client.assignments.set({ targetType: 'story', targetId: storyId, ...who }));
  const people = (all: readonly { id: string; name: string }[] | undefined, now: typeof known): ReactNode => (
    <>
      <option value="">{t.people.unassigned}</option>
      {[
        ...(all ?? []),
        ...(now !== undefined && all?.every(({ id }) => id !== now.id) !== false ? [now] : []),
      ].map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  );
  const known = assignment?.member ?? undefined;
  const agent = assignment?.agent ?? undefined;
  return (
    <>
      {choice(
        w.status,
        status,
        (next) =>
          void run(async () => {
            const { warnings } = await client.stories.updateStatus({
              ...{ storyId, status: next as Story['status'], expectedVersion: version },
            });
            const [warning] = warnings;
            if (warning !== undefined)
              notify({ tone: 'warn', title: t.move.warned(key), body: warning.message });
          }),
        words(t.status),
      )}
      {choice(
        w.assign,
        known?.id ?? '',
        (id) => void assign({ memberId: id === '' ? null : id }),
        people(members.data, known),
      )}
      {((agents.data?.length ?? 0) > 0 || agent !== undefined) &&
        choice(
          t.story.agent,
          agent?.id ?? '',
          (id) => void assign({ agentId: id === '' ? null : id }),
          people(agents.data, agent as typeof known),
        )}
      {choice(
        t.filter.priority,
        priority,
        (next) =>
          void run(() =>
            client.stories.update({ storyId, priority: next as Priority, expectedVersion: version }),
          ),
        words(t.priority),
      )}
    </>
  );
}
