/** Delivery groups: creating and renaming them, and changing their stories and state. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Group } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { useWriteCall, type WriteCall } from '../components/write.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { SelectField, Form, FormField } from '../settings/components.tsx';
import { groupTexts } from '../messages/groups.ts';
import { viewTexts } from '../messages/views.ts';
import { StoryProgressBar } from './bar.tsx';
import { type PickedStory, StoryPicker } from './story-picker.tsx';

type MergeStrategy = keyof typeof groupTexts.strategies;
type GroupState = Group['state'];

/**
 * The states that can be selected from each state. Final states need a confirmation and have separate
 * buttons.
 */
const selectableStates: Readonly<Record<GroupState, readonly GroupState[]>> = {
  draft: ['active'],
  active: ['in_review'],
  in_review: ['active'],
  landed: [],
  abandoned: [],
};

const useGroupWrite = (): WriteCall =>
  useWriteCall({
    queryKeys: [['epics']],
    failureTitle: viewTexts.epics.failed,
    conflictMessage: groupTexts.changedMeanwhile,
  });

interface GroupFormProps {
  readonly projectKey: string;
  readonly group?: Group;
  readonly stories: readonly PickedStory[];
  readonly onClose: () => void;
}

/** The form of a group; without a group it creates one. */
function GroupForm({ projectKey, group, stories, onClose }: GroupFormProps) {
  const { deliveryGroups } = useClient();
  const write = useGroupWrite();
  /** The changed name; null if it is unchanged. */
  const [ownName, setName] = useState<string | null>(null);
  const name = ownName ?? group?.name ?? '';
  const [picked, setPicked] = useState(stories);
  const [mergeStrategy, setStrategy] = useState<MergeStrategy>('per_story');
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
      submitLabel={group === undefined ? groupTexts.make : groupTexts.save}
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
        <FormField name={groupTexts.name}>
          <input
            className="field"
            required
            maxLength={200}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </FormField>
        {group === undefined && (
          <SelectField
            label={groupTexts.strategy}
            value={mergeStrategy}
            optionLabels={groupTexts.strategies}
            onChange={setStrategy}
          />
        )}
      </div>
      <StoryPicker projectKey={projectKey} pickedStories={picked} onPickedChange={setPicked} />
      {storyIds.length === 0 && <p className="muted">{groupTexts.none}</p>}
    </Form>
  );
}

interface GroupActionsProps {
  readonly group: Group;
  readonly onEdit: () => void;
}

/** The actions on a group: its state, editing, landing and abandoning. */
function GroupActions({ group, onEdit }: GroupActionsProps) {
  const { deliveryGroups } = useClient();
  const write = useGroupWrite();
  const { id: groupId, name, state, version: expectedVersion } = group;
  const go = (to: GroupState): Promise<boolean> =>
    write(() => deliveryGroups.update({ groupId, state: to, expectedVersion }));
  return (
    <div className="set-acts">
      <select
        className="field"
        aria-label={groupTexts.stateOf(name)}
        value={state}
        onChange={({ target }) => void go(target.value as GroupState)}
      >
        {[state, ...selectableStates[state]].map((one) => (
          <option key={one} value={one}>
            {viewTexts.epics.states[one]}
          </option>
        ))}
      </select>
      <button type="button" className="button" data-kind="quiet" onClick={onEdit}>
        {groupTexts.edit}
        <span className="sr-only"> {name}</span>
      </button>
      {state === 'in_review' && (
        <ConfirmButton
          actionLabel={groupTexts.land}
          subject={name}
          title={groupTexts.landTitle(name)}
          explanation={groupTexts.landWhy}
          onConfirm={() => go('landed')}
        />
      )}
      <ConfirmButton
        actionLabel={groupTexts.abandon}
        subject={name}
        title={groupTexts.abandonTitle(name)}
        explanation={groupTexts.abandonWhy}
        onConfirm={() => go('abandoned')}
      />
    </div>
  );
}

interface GroupRowProps {
  readonly group: Group;
  readonly projectKey: string;
  readonly canWrite: boolean;
}

function GroupRow({ group, projectKey, canWrite }: GroupRowProps) {
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const { name, state, progress, storyIds } = group;
  const stories = useQuery({
    queryKey: ['epics', 'progress', projectKey, 'stories', ...storyIds],
    queryFn: async () => {
      const { items } = await client.stories.list({
        ...{ projectId: projectKey, storyIds, view: 'card', limit: 200 },
      });
      return storyIds.flatMap((id) => items.find((one) => one.id === id) ?? []);
    },
    enabled: isOpen,
  });
  const { total, done, landed, blocked } = progress;
  const label = [viewTexts.epics.done(done, total), viewTexts.epics.landed(landed, total)].join(', ');
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
            {viewTexts.epics.states[state]}
          </span>
          <span>{label}</span>
          {blocked > 0 && (
            <span className="state" data-tone="wait">
              {viewTexts.epics.blocked(blocked)}
            </span>
          )}
        </div>
        <StoryProgressBar totalStories={total} doneStories={done} landedStories={landed} label={label} />
      </div>
      {canWrite && !isFinal && <GroupActions group={group} onEdit={() => setOpen(true)} />}
    </li>
  );
}

interface DeliveryGroupListProps {
  readonly groups: readonly Group[];
  readonly projectKey: string;
  readonly canWrite: boolean;
}

export function DeliveryGroupList({ groups, projectKey, canWrite }: DeliveryGroupListProps) {
  const [isMaking, setMaking] = useState(false);
  return (
    <section className="group" aria-labelledby="groups">
      <h2 id="groups">{viewTexts.epics.groups}</h2>
      <p className="muted">{viewTexts.epics.groupsIntro}</p>
      {canWrite &&
        (isMaking ? (
          <GroupForm projectKey={projectKey} stories={[]} onClose={() => setMaking(false)} />
        ) : (
          <div>
            <button type="button" className="button" onClick={() => setMaking(true)}>
              {groupTexts.make}
            </button>
          </div>
        ))}
      {groups.length === 0 ? (
        <p className="muted">{viewTexts.epics.noGroups}</p>
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
