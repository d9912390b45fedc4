/** A spec line by line, with the line numbers that comments refer to. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Spec } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { threadsQuery } from '../data/queries.ts';
import { Icon } from '../components/icons.tsx';
import { storyTexts, editTexts } from '../messages/story.ts';
import { ThreadView, CommentForm } from './threads.tsx';

interface SpecLinesProps {
  readonly storyId: string;
  readonly storyKey: string;
  readonly spec: Pick<Spec, 'version' | 'content'>;
  readonly canWrite: boolean;
}

export function SpecLines({ storyId, storyKey, spec, canWrite }: SpecLinesProps) {
  const client = useClient();
  const queries = useQueryClient();
  const threads = useQuery(threadsQuery(client, storyKey));
  const [open, setOpen] = useState<number | null>(null);
  const again = (): Promise<void> => queries.invalidateQueries({ queryKey: ['story', storyKey, 'threads'] });
  const on = (line: number) =>
    (threads.data?.items ?? []).filter(
      ({ anchor }) => anchor !== null && anchor.line === line && anchor.specVersion === spec.version,
    );
  const texts = spec.content.replace(/\n$/, '').split('\n');
  return (
    <ol className="lines">
      {texts.map((text, index) => {
        const line = index + 1;
        const here = on(line);
        const isOpen = open === line;
        return (
          <li key={line}>
            <div className="line" data-said={here.length > 0 || undefined}>
              <button
                type="button"
                className="line-number tabular"
                aria-expanded={isOpen}
                aria-label={here.length > 0 ? editTexts.onLine(line, here.length) : editTexts.commentOn(line)}
                onClick={() => setOpen(isOpen ? null : line)}
              >
                {here.length > 0 ? <Icon name="thread" size={12} /> : line}
              </button>
              <code>{text}</code>
            </div>
            {isOpen && (
              <div className="line-talk">
                {here.length > 0 && (
                  <ul className="talks">
                    {here.map((thread) => (
                      <ThreadView key={thread.id} {...{ thread, storyKey }} refetchThreads={again} />
                    ))}
                  </ul>
                )}
                {canWrite && here.length === 0 && (
                  <CommentForm
                    draftKey={`line.${storyId}.${spec.version}.${line}`}
                    label={editTexts.commentOn(line)}
                    placeholder={storyTexts.commentHint}
                    submitLabel={storyTexts.comment}
                    storyKey={storyKey}
                    onSend={async (body) => {
                      const anchor = { specVersion: spec.version, line };
                      await client.comments.create({ storyId: storyKey, body, anchor });
                      await again();
                    }}
                  />
                )}
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}
