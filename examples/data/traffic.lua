-- What wrk asks for: mostly pages, some searches, a few slow reports, and some trouble.
local wait = tonumber(os.getenv("WAIT")) -- mean milliseconds between a connection's requests
local paths = {
   { 60, "/" }, { 82, "/search.txt?q=hay" }, { 90, "/report.txt" }, { 97, "/missing" }, { 100, "/broken" },
}

wrk.headers["User-Agent"] = "wrk"

function init() math.randomseed(os.time()) end

function delay() return math.random(0, 2 * wait) end

function request()
   local dice = math.random(100)
   for _, path in ipairs(paths) do
      if dice <= path[1] then return wrk.format("GET", path[2]) end
   end
end
