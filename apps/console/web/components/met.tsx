/** Shows an edit conflict: the other person's value and one's own, until one of them is chosen. */
import { type ReactNode } from 'react';
import { t } from '../messages/index.ts';

export const EditConflictNotice = ({
  name,
  theirValue,
  ownValue,
  onKeepTheirs,
  onSaveMine,
}: {
  /** Label of the field. */
  readonly name: string;
  readonly theirValue: ReactNode;
  readonly ownValue: ReactNode;
  readonly onKeepTheirs: () => void;
  readonly onSaveMine: () => void;
}) => (
  <div className="conflict" role="alert">
    <strong>{t.met.title(name)}</strong>
    <dl className="met">
      <dt>{t.met.theirs}</dt>
      <dd>{theirValue}</dd>
      <dt>{t.met.mine}</dt>
      <dd>{ownValue}</dd>
    </dl>
    <div className="form-foot">
      <button type="button" className="button" data-kind="main" onClick={onKeepTheirs}>
        {t.move.keepTheirs}
      </button>
      <button type="button" className="button" onClick={onSaveMine}>
        {t.met.saveMine}
      </button>
    </div>
  </div>
);
