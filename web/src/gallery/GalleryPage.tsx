// Every part of the console in every state, in the theme one chooses. Builds for development have it at /gallery; tests compare its
// pictures with the stored ones (tests/browser/gallery.test.mjs). It asks the server nothing.
//
// Cost and limits: some 120 boxes on one page; a part that is not here fails gallery.test.ts.
import { useEffect } from 'react';
import { useKeys } from '../keys/useKeys';
import { setTitle } from '../state/url';
import { nextTheme, setTheme, themeChoices, useThemeChoice } from '../theme/theme';
import { ToastStack } from '../ui/ToastStack';
import '../app/shell.css';
import '../overview/overview.css';
import '../tools/tools.css';
import '../admin/admin.css';
import { Answers } from './Answers';
import { Controls } from './Controls';
import { Foundations } from './Foundations';
import { ShellStates } from './Shell';
import './gallery.css';

export default function GalleryPage() {
  const choice = useThemeChoice();
  useEffect(() => setTitle('Gallery'), []);
  useKeys({ 'app.theme': nextTheme });
  return (
    <div className="gallery" id="page">
      <header>
        <h1>Gallery</h1>
        <div className="tool-tabs" role="group" aria-label="Theme">
          {themeChoices.map((one) => (
            <button key={one} type="button" aria-pressed={one === choice} onClick={() => setTheme(one)}>
              {one}
            </button>
          ))}
        </div>
      </header>
      <main>
        <Foundations />
        <Controls />
        <ShellStates />
        <Answers />
      </main>
      <ToastStack />
    </div>
  );
}
