/** Opens a saved view: replaces its id in the address by the state that it saves. */
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type BoardSearch } from '../board/filter.ts';
import { useClient, useConsole } from '../data/context.ts';
import { storeDefaultView } from '../data/default-views.ts';
import { showNotice } from '../components/notices.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { storyViewTexts } from '../messages/story-views.ts';
import { toSearch, viewsQuery } from './saved-views.ts';

interface OpenViewProps {
  readonly viewId: string;
  readonly projectKey: string | null;
  /** True if the address does not name the view, because the page opens with it. */
  readonly isDefault: boolean;
  readonly onOpen: (search: BoardSearch) => void;
}

export default function OpenView({ viewId, projectKey, isDefault, onOpen }: OpenViewProps) {
  const { session } = useConsole();
  const { data, error, refetch } = useQuery(viewsQuery(useClient()));
  useEffect(() => {
    if (data === undefined) return;
    const view = data.find(({ id }) => id === viewId);
    if (view !== undefined) onOpen(toSearch(view));
    else {
      if (isDefault) storeDefaultView(session.draftOwnerId, projectKey, null);
      else showNotice({ tone: 'warn', title: storyViewTexts.views.gone });
      onOpen({ layout: projectKey === null ? 'list' : 'board' });
    }
  }, [data]);
  return (
    <div className="page">
      {error === null ? (
        <Loading label={storyViewTexts.loading} />
      ) : (
        <LoadError error={error} onRetry={() => void refetch()} isPage />
      )}
    </div>
  );
}
