import { Icon } from './Icon';
import { Link } from './Link';
import { dismissToast, useToasts } from './toasts';
import './dialog.css';

export function ToastStack() {
  const toasts = useToasts();
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast ${toast.tone}`}>
          <Icon name={toast.icon} />
          <div className="grow">
            {toast.text}
            {toast.link && (
              <div>
                <Link to={toast.link.to} onClick={() => dismissToast(toast.id)}>
                  {toast.link.text}
                </Link>
              </div>
            )}
          </div>
          <button type="button" className="button plain square small" aria-label="Close this message" onClick={() => dismissToast(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
