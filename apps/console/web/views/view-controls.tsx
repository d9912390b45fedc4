/** The buttons of a board or view that arrange its stories. */
import { DisplayMenu, type DisplayMenuProps } from './display-menu.tsx';
import { ViewMenu } from './view-menu.tsx';

export default function ViewControls(props: DisplayMenuProps) {
  return (
    <span className="view-controls">
      <ViewMenu {...props} />
      <DisplayMenu {...props} />
    </span>
  );
}
