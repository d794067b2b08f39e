// What every chart stands in: its legend, its menu, and the frame that becomes a picture. A chart that is drawn inside one can be taken away
// as PNG and SVG without a line of its own; with `data` also as a table.
//
//   <ChartFrame title="Step times" legend={...} data={() => table}> <svg .../> </ChartFrame>
//
// A chart with a head of its own puts <ChartMenu frame={ref} .../> there. Elements with data-export="leave" are in no picture.
import { type ReactNode, type RefObject, useRef } from 'react';
import { type ExportTable, fileName, pageNameOf } from '../export/model';
import { copyTable } from '../export/TableExport';
import { Icon } from '../ui/Icon';
import { Menu } from '../ui/Menu';
import { saveFile } from '../ui/saveFile';
import { showToast } from '../ui/toasts';
import './charts.css';

async function makePicture(frame: Element, title: string, format: 'png' | 'svg'): Promise<void> {
  const { page, session } = pageNameOf(document.title);
  const { svgOf, pngOf } = await import('../export/svg');
  const picture = await svgOf(frame, { title, subtitle: [page, session].filter((part) => part !== '' && part !== title).join(', ') });
  if (format === 'svg') saveFile(fileName(title, 'svg'), picture.text, 'image/svg+xml');
  else saveFile(fileName(title, 'png'), await pngOf(picture), 'image/png');
}

// Says it when the picture could not be made.
export function savePicture(frame: Element, title: string, format: 'png' | 'svg'): void {
  makePicture(frame, title, format).catch((error: unknown) => showToast({ tone: 'bad', icon: 'damaged', text: `The picture was not made: ${error instanceof Error ? error.message : String(error)}` }));
}

interface ChartMenuProps {
  frame: RefObject<Element | null>;
  title: string;
  data?: (() => ExportTable) | undefined;
}

export function ChartMenu({ frame, title, data }: ChartMenuProps) {
  const save = (format: 'png' | 'svg') => {
    if (frame.current) savePicture(frame.current, title, format);
  };
  return (
    <span className="export-menu" data-export="leave">
      <Menu label={`Export ${title}`} className="button plain small square" align="right" button={<Icon name="download" />}>
        {(close) => {
          const item = (label: string, run: () => void, icon?: 'copy') => (
            <button
              type="button"
              className="menu-item"
              role="menuitem"
              onClick={() => {
                close();
                run();
              }}
            >
              {icon && <Icon name={icon} />}
              {label}
            </button>
          );
          return (
            <>
              {item('PNG', () => save('png'))}
              {item('SVG', () => save('svg'))}
              {data && item('Copy data as Markdown', () => void copyTable(data()), 'copy')}
            </>
          );
        }}
      </Menu>
    </span>
  );
}

interface ChartFrameProps {
  title: string;
  legend?: ReactNode;
  data?: (() => ExportTable) | undefined;
  className?: string;
  children: ReactNode;
}

export function ChartFrame({ title, legend, data, className = 'chart', children }: ChartFrameProps) {
  const frame = useRef<HTMLDivElement>(null);
  return (
    <div className={className} ref={frame} data-chart={title}>
      <div className={legend ? 'chart-top' : 'chart-top bare'}>
        {legend && <div className="chart-legend">{legend}</div>}
        <ChartMenu frame={frame} title={title} data={data} />
      </div>
      {children}
    </div>
  );
}
