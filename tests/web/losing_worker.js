// The package's Worker with a device that is lost when the page says so.
importScripts("/web/tokamak-web/dist/worker.js");

const devices = [];
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function requestDevice(...asked) {
  devices.push(await request.apply(this, asked));
  return devices.at(-1);
};
new BroadcastChannel("lose").onmessage = () => devices.at(-1).destroy();
