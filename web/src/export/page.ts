// What the page's menu, the palette and the keys do with the whole page. The makers are loaded when they are needed.
import { copyLong, showToast } from '../ui/toasts';
import { saveFile } from '../ui/saveFile';
import { fileName } from './model';
import { pageRoot, readPageInfo } from './pageInfo';

function failed(error: unknown): void {
  showToast({ tone: 'bad', icon: 'damaged', text: `The page was not saved: ${error instanceof Error ? error.message : String(error)}` });
}

// What is still on its way is missing in the file, and that is said.
function sayUnfinished(root: Element): void {
  if (root.querySelector('.skeleton')) showToast({ tone: 'plain', icon: 'partial', text: 'Parts of the page were still loading and are missing.' });
}

export async function savePageAsHtml(): Promise<void> {
  const root = pageRoot();
  if (!root) return;
  try {
    const info = readPageInfo();
    const { pageHtml } = await import('./pageHtml');
    saveFile(fileName(info.title, 'html'), await pageHtml(root, info), 'text/html');
    sayUnfinished(root);
  } catch (error) {
    failed(error);
  }
}

export async function copyPageAsMarkdown(): Promise<void> {
  const root = pageRoot();
  if (!root) return;
  try {
    const info = readPageInfo();
    const { pageMarkdown } = await import('./pageMarkdown');
    await copyLong(pageMarkdown(root, info), 'This page as Markdown', fileName(info.title, 'md'));
    sayUnfinished(root);
  } catch (error) {
    failed(error);
  }
}
