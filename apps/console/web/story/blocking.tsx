/** Edits the obstacles of a story: other stories, and a reason with the member who can lift it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { type Member, type Story } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { useReturnFocus } from '../components/focus.ts';
import { Icon } from '../components/icons.tsx';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { membersQuery } from '../data/people-queries.ts';
import { t } from '../messages/index.ts';
import { editTexts } from '../messages/story.ts';
import { LabeledFact, EditableFact } from './fact.tsx';
import { type StoryEdits } from './story-edits.ts';
import { StoryField } from './story-field.tsx';

function useBlockers({ projectId, key, blockedBy }: Story) {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['story', key, 'blockers', ...blockedBy],
    queryFn: async () =>
      (await client.stories.list({ projectId, storyIds: blockedBy, limit: 100, view: 'card' })).items,
    enabled: blockedBy.length > 0,
    placeholderData: (last) => last,
  });
  return blockedBy.flatMap((id) => data?.find((story) => story.id === id) ?? []);
}

export const StoryLinkLine = ({ storyKey, title }: { readonly storyKey: string; readonly title: string }) => (
  <Link to="/s/$storyKey" params={{ storyKey }} className="side-link grow">
    <span className="key">{storyKey}</span> {title}
  </Link>
);

/** Shows the obstacles of a story to readers who may not write. */
export function ReadOnlyBlockers({ story }: { readonly story: Story }) {
  const blockers = useBlockers(story);
  if (story.blockedBy.length === 0) return null;
  return (
    <LabeledFact name={editTexts.waitsFor}>
      <ul>
        {blockers.map(({ id, key, title }) => (
          <li key={id}>
            <StoryLinkLine storyKey={key} title={title} />
          </li>
        ))}
      </ul>
    </LabeledFact>
  );
}

export function EditableBlockers({ edits }: { readonly edits: StoryEdits }) {
  const field = useRef<HTMLInputElement>(null);
  const { displayedRecord, save } = edits;
  const { id: ownId, projectId, blockedBy } = displayedRecord;
  const blockers = useBlockers(displayedRecord);
  const keyOf = (id: string): string => blockers.find((story) => story.id === id)?.key ?? id;
  return (
    <EditableFact
      name={editTexts.waitsFor}
      field="blockedBy"
      edits={edits}
      formatValue={(ids) => (ids.length === 0 ? t.met.nothing : ids.map(keyOf).join(', '))}
    >
      <ul>
        {blockers.map(({ id, key, title }) => (
          <li key={id} className="blocker">
            <StoryLinkLine storyKey={key} title={title} />
            <button
              type="button"
              className="chip-button"
              aria-label={editTexts.removeBlocker(key)}
              onClick={() => {
                field.current?.focus();
                void save({ blockedBy: blockedBy.filter((one) => one !== id) });
              }}
            >
              <Icon name="close" size={12} />
            </button>
          </li>
        ))}
      </ul>
      <StoryField
        {...{ projectId, place: field, excludedIds: [ownId, ...blockedBy], label: editTexts.addBlocker }}
        onSelect={(id) => {
          if (!blockedBy.includes(id)) void save({ blockedBy: [...blockedBy, id] });
        }}
      />
    </EditableFact>
  );
}

type BlockReason = NonNullable<Story['blocked']>;
type BlockKind = keyof typeof editTexts.blockedKinds;
const blockKinds = Object.keys(editTexts.blockedKinds) as BlockKind[];

interface BlockDetailsProps {
  readonly blocked: BlockReason;
  readonly unblockerName: string | undefined;
}

/** The reason of a block, and the member who can lift it. */
export const BlockDetails = ({ blocked, unblockerName }: BlockDetailsProps) => (
  <>
    <span className="state" data-tone="wait">
      {editTexts.blockedKinds[blocked.kind as BlockKind]}
    </span>
    <span className="side-note">{blocked.note}</span>
    {unblockerName !== undefined && (
      <span className="side-note muted">{editTexts.liftedBy(unblockerName)}</span>
    )}
  </>
);

interface BlockFields {
  readonly kind: BlockKind;
  readonly note: string;
  readonly unblockerMemberId: string;
}

interface BlockFormProps {
  readonly fields: BlockFields;
  readonly changeFields: (change: Partial<BlockFields>) => void;
  readonly members: readonly Member[];
  readonly onSave: () => void;
  readonly onClose: () => void;
}

const BlockForm = ({ fields, changeFields, members, onSave, onClose }: BlockFormProps) => (
  <form
    className="block-form"
    onSubmit={(event) => {
      event.preventDefault();
      onSave();
    }}
  >
    <select
      className="field"
      aria-label={editTexts.blockedKind}
      autoFocus
      value={fields.kind}
      onChange={({ target }) => changeFields({ kind: target.value as BlockKind })}
    >
      {blockKinds.map((one) => (
        <option key={one} value={one}>
          {editTexts.blockedKinds[one]}
        </option>
      ))}
    </select>
    <textarea
      className="field"
      rows={2}
      required
      maxLength={2_000}
      aria-label={editTexts.blockedNote}
      placeholder={editTexts.blockedNote}
      value={fields.note}
      onChange={({ target }) => changeFields({ note: target.value })}
    />
    <select
      className="field"
      required
      aria-label={editTexts.unblocker}
      value={fields.unblockerMemberId}
      onChange={({ target }) => changeFields({ unblockerMemberId: target.value })}
    >
      <option value="">{editTexts.unblocker}</option>
      {members.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
    <div className="form-foot">
      <button type="submit" className="button" data-kind="main">
        {editTexts.save}
      </button>
      <button type="button" className="button" onClick={onClose}>
        {t.cancel}
      </button>
    </div>
  </form>
);

export function EditableBlockReason({ edits }: { readonly edits: StoryEdits }) {
  const members = useQuery(membersQuery(useClient()));
  const { displayedRecord, conflicts, save } = edits;
  const { blocked } = displayedRecord;
  const [isOpen, setOpen] = useState(false);
  const opener = useReturnFocus(isOpen);
  const [typed, setTyped] = useState<BlockFields>({ kind: 'dependency', note: '', unblockerMemberId: '' });
  const set = (change: Partial<BlockFields>): void => setTyped((last) => ({ ...last, ...change }));
  const isUnsaved = typed.note.trim() !== '' && (isOpen || conflicts.blocked !== undefined);
  const askFirst = useLeaveConfirmation(isUnsaved);
  const close = (): void => {
    set({ note: '' });
    setOpen(false);
  };
  // If someone else wrote a reason in the meantime, both are shown side by side.
  if (isOpen && conflicts.blocked !== undefined) setOpen(false);
  const block = async (): Promise<void> => {
    if (await save({ blocked: typed })) close();
  };
  const whoOf = (reason: BlockReason): string | undefined =>
    members.data?.find(({ id }) => id === reason.unblockerMemberId)?.name;
  const say = (reason: BlockReason | null): string =>
    reason === null ? t.met.nothing : `${editTexts.blockedKinds[reason.kind as BlockKind]}: ${reason.note}`;
  return (
    <EditableFact name={editTexts.blocked} field="blocked" edits={edits} formatValue={say}>
      {isOpen ? (
        <BlockForm
          fields={typed}
          changeFields={set}
          members={members.data ?? []}
          onSave={() => void block()}
          onClose={() => askFirst(close)}
        />
      ) : (
        <>
          {blocked !== null && <BlockDetails blocked={blocked} unblockerName={whoOf(blocked)} />}
          {/* A single button for both states, so that the focus stays when a block is lifted. */}
          <button
            ref={opener}
            type="button"
            className={blocked === null ? 'fact-button muted' : 'button'}
            onClick={() => {
              if (blocked === null) setOpen(true);
              else {
                set({ note: '' });
                void save({ blocked: null });
              }
            }}
          >
            {blocked === null ? editTexts.block : editTexts.lift}
          </button>
        </>
      )}
    </EditableFact>
  );
}
