/** The stories of a project that were deleted in the last 30 days, and can be restored. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useClient } from '../data/context.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { formatDateTime } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from './components.tsx';
import { deletedStoriesQuery } from './queries.ts';

const words = texts.deletedStories;

interface DeletedStoriesProps {
  readonly projectId: string;
  readonly mayWrite: boolean;
}

export function DeletedStories({ projectId, mayWrite }: DeletedStoriesProps) {
  const { stories } = useClient();
  const pages = useInfiniteQuery(deletedStoriesQuery(useClient(), projectId));
  const { isBusy, run } = useSettingsWrite();
  const data = pages.data?.pages.flatMap(({ items }) => items);
  return (
    <Section id="deleted" title={texts.sections.deleted} intro={words.intro}>
      <QueryList query={{ ...pages, data }} emptyTitle={words.empty}>
        {({ id, key, title, deletedBy, deletedAt, restorableUntil }) => (
          <ListItem
            key={id}
            title={
              <>
                <span className="key">{key}</span> {title}
              </>
            }
            details={joinFacts(
              words.deletedBy(deletedBy.name, formatDateTime(deletedAt)),
              words.until(formatDateTime(restorableUntil)),
            )}
          >
            {mayWrite && (
              <button
                type="button"
                className="button"
                disabled={isBusy}
                onClick={() => void run(() => stories.restore({ storyId: id }), words.restored(key))}
              >
                {words.restore}
                <span className="sr-only"> {key}</span>
              </button>
            )}
          </ListItem>
        )}
      </QueryList>
      <NextPageButton query={pages} name={words.older} />
    </Section>
  );
}
