/** Delivery groups: creating and renaming them, and changing their stories and state. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Group } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useWriteOf, type Write } from '../components/write.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, Form, Label } from '../settings/components.tsx';
import { g } from '../messages/groups.ts';
import { v } from '../messages/views.ts';
import { Bar } from './bar.tsx';
import { type Picked, StoryPicker } from './story-picker.tsx';

type Strategy = keyof typeof g.strategies;
type State = Group['state'];

/**
 * The states that can be selected from each state. Final states need a confirmation and have separate
 * buttons.
 */
const next: Readonly<Record<State, readonly State[]>> = {
  draft: ['active'],
  active: ['in_review'],
  in_review: ['active'],
  landed: [],
  abandoned: [],
};

const useGroupWrite = (projectKey: string): Write =>
  useWriteOf({ about: [['epics', projectKey]], failed: v.epics.failed, met: g.changedMeanwhile });

/** The form of a group; without a group it creates one. */
function GroupForm({
  projectKey,
  group,
  stories,
  onClose,
}: {
  readonly projectKey: string;
  readonly group?: Group;
  readonly stories: readonly Picked[];
  readonly onClose: () => void;
}) {
  const { deliveryGroups } = useClient();
  const write = useGroupWrite(projectKey);
  /** The changed name; null if it is unchanged. */
  const [ownName, setName] = useState<string | null>(null);
  const name = ownName ?? group?.name ?? '';
  const [picked, setPicked] = useState(stories);
  const [mergeStrategy, setStrategy] = useState<Strategy>('per_story');
  const [isBusy, setBusy] = useState(false);
  const storyIds = picked.map(({ id }) => id);
  const save = async (): Promise<void> => {
    if (group === undefined) {
      await deliveryGroups.create({ projectId: projectKey, name: name.trim(), storyIds, mergeStrategy });
      return;
    }
    let { version } = group;
    const groupId = group.id;
    if (name.trim() !== group.name)
      ({ version } = (
        await deliveryGroups.update({ groupId, name: name.trim(), expectedVersion: version })
      ).group);
    if (storyIds.join(' ') !== stories.map(({ id }) => id).join(' '))
      await deliveryGroups.replaceStories({ groupId, storyIds, expectedVersion: version });
  };
  return (
    <Form
      act={group === undefined ? g.make : g.save}
      isBusy={isBusy || storyIds.length === 0}
      onCancel={onClose}
      onSubmit={async () => {
        setBusy(true);
        const isDone = await write(save);
        setBusy(false);
        if (isDone) onClose();
        return isDone;
      }}
    >
      <div className="form-row">
        <Label name={g.name}>
          <input
            className="field"
            required
            maxLength={200}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </Label>
        {group === undefined && (
          <Choice label={g.strategy} value={mergeStrategy} words={g.strategies} onChange={setStrategy} />
        )}
      </div>
      <StoryPicker projectKey={projectKey} picked={picked} onPick={setPicked} />
      {storyIds.length === 0 && <p className="muted">{g.none}</p>}
    </Form>
  );
}

/** The actions on a group: its state, editing, landing and abandoning. */
function GroupActs({
  group,
  projectKey,
  onEdit,
}: {
  readonly group: Group;
  readonly projectKey: string;
  readonly onEdit: () => void;
}) {
  const { deliveryGroups } = useClient();
  const write = useGroupWrite(projectKey);
  const { id: groupId, name, state, version: expectedVersion } = group;
  const go = (to: State): Promise<boolean> =>
    write(() => deliveryGroups.update({ groupId, state: to, expectedVersion }));
  return (
    <div className="set-acts">
      <select
        className="field"
        aria-label={g.stateOf(name)}
        value={state}
        onChange={({ target }) => void go(target.value as State)}
      >
        {[state, ...next[state]].map((one) => (
          <option key={one} value={one}>
            {v.epics.states[one]}
          </option>
        ))}
      </select>
      <button type="button" className="button" data-kind="quiet" onClick={onEdit}>
        {g.edit}
        <span className="sr-only"> {name}</span>
      </button>
      {state === 'in_review' && (
        <Ask act={g.land} about={name} title={g.landTitle(name)} why={g.landWhy} run={() => go('landed')} />
      )}
      <Ask
        act={g.abandon}
        about={name}
        title={g.abandonTitle(name)}
        why={g.abandonWhy}
        run={() => go('abandoned')}
      />
    </div>
  );
}

function GroupRow({
  group,
  projectKey,
  canWrite,
}: {
  readonly group: Group;
  readonly projectKey: string;
  readonly canWrite: boolean;
}) {
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const { name, state, progress, storyIds } = group;
  const stories = useQuery({
    queryKey: ['epics', projectKey, 'stories', ...storyIds],
    queryFn: async () => {
      const { items } = await client.stories.list({
        ...{ projectId: projectKey, storyIds, view: 'card', limit: 200 },
      });
      return storyIds.flatMap((id) => items.find((one) => one.id === id) ?? []);
    },
    enabled: isOpen,
  });
  const { total, done, landed, blocked } = progress;
  const label = [v.epics.done(done, total), v.epics.landed(landed, total)].join(', ');
  const isFinal = state === 'landed' || state === 'abandoned';
  if (isOpen && stories.data !== undefined)
    return (
      <li className="row-form">
        <GroupForm
          projectKey={projectKey}
          group={group}
          stories={stories.data}
          onClose={() => setOpen(false)}
        />
      </li>
    );
  return (
    <li className="row set-row">
      <div className="row-words">
        <p className="row-line">{name}</p>
        <div className="row-fact">
          <span className="state" data-tone={state === 'landed' ? 'good' : 'none'}>
            {v.epics.states[state]}
          </span>
          <span>{label}</span>
          {blocked > 0 && (
            <span className="state" data-tone="wait">
              {v.epics.blocked(blocked)}
            </span>
          )}
        </div>
        <Bar total={total} done={done} landed={landed} label={label} />
      </div>
      {canWrite && !isFinal && (
        <GroupActs group={group} projectKey={projectKey} onEdit={() => setOpen(true)} />
      )}
    </li>
  );
}

export function Groups({
  groups,
  projectKey,
  canWrite,
}: {
  readonly groups: readonly Group[];
  readonly projectKey: string;
  readonly canWrite: boolean;
}) {
  const [isMaking, setMaking] = useState(false);
  return (
    <section className="group" aria-labelledby="groups">
      <h2 id="groups">{v.epics.groups}</h2>
      <p className="muted">{v.epics.groupsIntro}</p>
      {canWrite &&
        (isMaking ? (
          <GroupForm projectKey={projectKey} stories={[]} onClose={() => setMaking(false)} />
        ) : (
          <div>
            <button type="button" className="button" onClick={() => setMaking(true)}>
              {g.make}
            </button>
          </div>
        ))}
      {groups.length === 0 ? (
        <p className="muted">{v.epics.noGroups}</p>
      ) : (
        <ul className="rows">
          {groups.map((group) => (
            <GroupRow key={group.id} {...{ group, projectKey, canWrite }} />
          ))}
        </ul>
      )}
    </section>
  );
}
