/** The response of the agent that was asked to work on a story. Without a runner, it shows the command that starts one. */
import { useQuery } from '@tanstack/react-query';
import { useClient } from '../data/context.ts';
import { relatedQuery } from '../data/queries.ts';
import { AgentResponseLabel, runnerCommand } from '../components/work.tsx';
import { runTexts } from '../messages/runs.ts';
import { CopyButton } from '../settings/components.tsx';

export function StoryAgentResponse({ storyKey }: { readonly storyKey: string }) {
  const response = useQuery(relatedQuery(useClient(), storyKey)).data?.agentResponse ?? null;
  if (response === null) return null;
  const command = runnerCommand(storyKey);
  return (
    <div className="agent-response">
      <AgentResponseLabel response={response} />
      {response.state === 'no_runner' && (
        <>
          <p className="muted">{runTexts.startRunner}</p>
          <div className="connect-snippet">
            <pre tabIndex={0} aria-label={runTexts.command}>
              <code>{command}</code>
            </pre>
            <CopyButton name={runTexts.command} value={command} />
          </div>
        </>
      )}
    </div>
  );
}
