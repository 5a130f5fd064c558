// Follows pods and config maps with client-go's shared informers and tells, whenever a line comes in on standard
// input, what its caches hold: one JSON object a line. Ends when standard input does.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type report struct {
	// Revisions by namespace/name.
	Pods       map[string]string `json:"pods"`
	ConfigMaps map[string]string `json:"configMaps"`
	Events     int64             `json:"events"`
	// Watches that could not begin or broke; the informer begins them anew by itself.
	WatchErrors int64 `json:"watchErrors"`
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "informers:", err)
		os.Exit(1)
	}
}

func run(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	configMaps := factory.Core().V1().ConfigMaps().Informer()
	var events, watchErrors atomic.Int64
	for _, informer := range []cache.SharedIndexInformer{pods, configMaps} {
		if err := informer.SetWatchErrorHandler(func(*cache.Reflector, error) { watchErrors.Add(1) }); err != nil {
			return err
		}
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { events.Add(1) },
			UpdateFunc: func(any, any) { events.Add(1) },
			DeleteFunc: func(any) { events.Add(1) },
		})
		if err != nil {
			return err
		}
	}
	stop := make(chan struct{})
	defer close(stop)
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	out := json.NewEncoder(os.Stdout)
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		err := out.Encode(report{revisions(pods), revisions(configMaps), events.Load(), watchErrors.Load()})
		if err != nil {
			return err
		}
	}
	return nil
}

func revisions(informer cache.SharedIndexInformer) map[string]string {
	found := map[string]string{}
	for _, object := range informer.GetStore().List() {
		if accessor, err := meta.Accessor(object); err == nil {
			found[accessor.GetNamespace()+"/"+accessor.GetName()] = accessor.GetResourceVersion()
		}
	}
	return found
}
