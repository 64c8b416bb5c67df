// Shows the page when one of its notifications is pressed. It keeps nothing and answers nothing: every request goes to the
// daemon, as without it.

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const id = event.notification.data?.id;
  const address = id ? `/#request/${encodeURIComponent(id)}` : "/";
  event.waitUntil((async () => {
    const [open] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
    if (!open) return self.clients.openWindow(address);
    await open.focus();
    return open.navigate(address).catch(() => undefined);
  })());
});
