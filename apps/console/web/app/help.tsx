import { Dialog } from '../components/dialog.tsx';
import { setKeysOn, useKeysOn } from '../components/keys.ts';
import { helpTexts } from '../messages/help.ts';
import { t } from '../messages/index.ts';

/** The label of the modifier key on this system. */
const modifier = /Mac|iP(hone|ad|od)/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** Lists the keyboard shortcuts, with the switch for single-key ones. */
export default function Help({ onClose }: { readonly onClose: () => void }) {
  const isOn = useKeysOn();
  return (
    <Dialog label={helpTexts.title} onClose={onClose}>
      <div className="dialog-body">
        <h2>{helpTexts.title}</h2>
        <dl className="keys">
          {helpTexts.keys.map(([keys, meaning]) => (
            <div key={meaning} className="fact">
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key === 'mod' ? modifier : key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label className="switch">
          <input type="checkbox" checked={isOn} onChange={({ target }) => setKeysOn(target.checked)} />
          {helpTexts.single}
        </label>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
