/** Shows an edit conflict: the other person's value and one's own, until one of them is chosen. */
import { type ReactNode } from 'react';
import { t } from '../messages/index.ts';

export const EditConflict = ({
  name,
  theirs,
  mine,
  onTheirs,
  onMine,
}: {
  /** Label of the field. */
  readonly name: string;
  readonly theirs: ReactNode;
  readonly mine: ReactNode;
  readonly onTheirs: () => void;
  readonly onMine: () => void;
}) => (
  <div className="conflict" role="alert">
    <strong>{t.met.title(name)}</strong>
    <dl className="met">
      <dt>{t.met.theirs}</dt>
      <dd>{theirs}</dd>
      <dt>{t.met.mine}</dt>
      <dd>{mine}</dd>
    </dl>
    <div className="form-foot">
      <button type="button" className="button" data-kind="main" onClick={onTheirs}>
        {t.move.keepTheirs}
      </button>
      <button type="button" className="button" onClick={onMine}>
        {t.met.saveMine}
      </button>
    </div>
  </div>
);
