/** The newest runs on a story. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type RunState } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { TimeAgo } from '../components/time-ago.tsx';
import { runTexts } from '../messages/runs.ts';
import { storyRunsQuery } from './run-query.ts';

const tones = {
  ...{ running: 'live', waiting: 'wait', completed: 'good', failed: 'bad', canceled: 'none' },
} as const satisfies Record<RunState, string>;

export function StoryRuns({ storyKey }: { readonly storyKey: string }) {
  const runs = useQuery(storyRunsQuery(useClient(), storyKey)).data ?? [];
  if (runs.length === 0) return null;
  return (
    <section className="side-part">
      <h2>{runTexts.runs}</h2>
      <ul className="side-list">
        {runs.map(({ runId, projectId, state, agent, member, startedAt }) => {
          const name = agent?.name ?? member.name;
          return (
            <li key={`${projectId} ${runId}`} className="story-run">
              <Link
                to="/runs/$runId"
                params={{ runId }}
                search={{ project: projectId }}
                className="side-link cut"
                aria-label={runTexts.openRunOf(name)}
              >
                {name}
              </Link>
              <span className="state" data-tone={tones[state]}>
                {runTexts.ofStory[state]}
              </span>
              <TimeAgo className="muted" at={startedAt} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}
