/** First steps on a board without stories. */
import { Link } from '@tanstack/react-router';
import { f } from '../messages/board-start.ts';

export default function BoardStart({
  projectKey,
  onAdd,
}: {
  readonly projectKey: string;
  readonly onAdd: () => void;
}) {
  return (
    <section className="board-start" aria-labelledby="board-start">
      <h2 id="board-start">{f.title}</h2>
      <p className="muted">{f.why}</p>
      <div className="form-foot">
        <button type="button" className="button" data-kind="main" onClick={onAdd}>
          {f.add}
        </button>
        <Link
          to="/p/$projectKey/settings/$section"
          params={{ projectKey, section: 'import' }}
          className="button"
        >
          {f.bringIn}
        </Link>
        <Link to="/settings/$section" params={{ section: 'tokens' }} className="button">
          {f.connect}
        </Link>
        <Link to="/settings/$section" params={{ section: 'members' }} className="button">
          {f.invite}
        </Link>
      </div>
    </section>
  );
}
