# Calls the functions of a Ruby recipe, as requested by lines of JSON.
require 'json'
require_relative 'recipe'

def perform(request)
  { result: send(request['call'], *arguments(request)) }
rescue StandardError => e
  { error: e.inspect, ended: ended(e) }
end

# Converts the keys for `disconnect` to symbols, which to_hash of newer versions returns. All other calls get strings,
# as from stored JSON. The recipe must accept both.
def arguments(request)
  request['call'] == 'disconnect' ? request['args'].map { |tokens| tokens.transform_keys(&:to_sym) } : request['args']
end

$stdin.each_line do |line|
  puts JSON.generate(perform(JSON.parse(line)))
  $stdout.flush
end
