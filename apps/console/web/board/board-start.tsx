/** First steps on a board without stories. */
import { Link } from '@tanstack/react-router';
import { boardStartTexts } from '../messages/board-start.ts';

interface FirstStepsPanelProps {
  readonly projectKey: string;
  readonly onAdd: () => void;
}

export default function FirstStepsPanel({ projectKey, onAdd }: FirstStepsPanelProps) {
  return (
    <section className="board-start" aria-labelledby="board-start">
      <h2 id="board-start">{boardStartTexts.title}</h2>
      <p className="muted">{boardStartTexts.why}</p>
      <div className="form-foot">
        <button type="button" className="button" data-kind="main" onClick={onAdd}>
          {boardStartTexts.add}
        </button>
        <Link
          to="/p/$projectKey/settings/$section"
          params={{ projectKey, section: 'import' }}
          className="button"
        >
          {boardStartTexts.bringIn}
        </Link>
        <Link to="/connect-agent" className="button">
          {boardStartTexts.connect}
        </Link>
        <Link to="/settings/$section" params={{ section: 'members' }} className="button">
          {boardStartTexts.invite}
        </Link>
      </div>
    </section>
  );
}
