/** The stories of a project in another layout than the board of its columns. */
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type Board, type BoardView } from '../data/boards.ts';
import { Stories } from './stories.tsx';

const boardRoute = getRouteApi('/p/$projectKey');

interface ProjectViewProps {
  readonly board: Board;
  readonly view: BoardView;
}

export default function ProjectView({ board, view }: ProjectViewProps) {
  const search = boardRoute.useSearch();
  const navigate = useNavigate({ from: '/p/$projectKey' });
  return (
    <Stories
      {...{ board, view, search }}
      onSearchChange={(next) => void navigate({ search: next, replace: true })}
    />
  );
}
