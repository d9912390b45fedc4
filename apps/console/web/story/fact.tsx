/** A fact about a story, as one line. */
import { type ReactNode } from 'react';
import { type Story } from '@muster/registry';
import { EditConflict } from '../components/met.tsx';
import { type StoryEdits } from './story-edits.ts';

export const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
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
  say,
  children,
}: {
  readonly name: string;
  readonly field: Field;
  readonly edits: StoryEdits;
  readonly say: (value: Story[Field]) => string;
  readonly children: ReactNode;
}) {
  const { meetings, save, keepTheirs } = edits;
  const met = meetings[field];
  return (
    <>
      <Fact name={name}>{children}</Fact>
      {met !== undefined && (
        <div className="fact-met">
          <dt className="sr-only">{name}</dt>
          <dd>
            <EditConflict
              name={name}
              theirs={say(met.theirs[field])}
              mine={say(met.mine[field] as Story[Field])}
              onTheirs={() => keepTheirs(field)}
              onMine={() => void save(met.mine)}
            />
          </dd>
        </div>
      )}
    </>
  );
}
