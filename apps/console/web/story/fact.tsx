/** A fact about a story, as one line. */
import { type ReactNode } from 'react';
import { type Story } from '@muster/contract';
import { EditConflictNotice } from '../components/met.tsx';
import { type StoryEdits } from './story-edits.ts';

export const LabeledFact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/**
 * A field of the story itself. If someone else changed it in the meantime, both values are shown side by
 * side.
 */
export function EditableFact<Field extends keyof Story>({
  name,
  field,
  edits,
  formatValue,
  children,
}: {
  readonly name: string;
  readonly field: Field;
  readonly edits: StoryEdits;
  readonly formatValue: (value: Story[Field]) => string;
  readonly children: ReactNode;
}) {
  const { conflicts, save, keepTheirs } = edits;
  const met = conflicts[field];
  return (
    <>
      <LabeledFact name={name}>{children}</LabeledFact>
      {met !== undefined && (
        <div className="fact-met">
          <dt className="sr-only">{name}</dt>
          <dd>
            <EditConflictNotice
              name={name}
              theirValue={formatValue(met.theirs[field])}
              ownValue={formatValue(met.mine[field] as Story[Field])}
              onKeepTheirs={() => keepTheirs(field)}
              onSaveMine={() => void save(met.mine)}
            />
          </dd>
        </div>
      )}
    </>
  );
}
